/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What an event tells of its tasks, on every kernel. */
#ifndef SUBTICK_BPF_TASK_H
#define SUBTICK_BPF_TASK_H

#include "kernel.bpf.h"

/* A plain load: the verifier knows the type of the tracepoint's argument. */
static __always_inline bool task_runnable(struct task_struct *task)
{
	if (bpf_core_field_exists(((struct task_struct___new *)0)->__state))
		return !((struct task_struct___new *)task)->__state;
	return !((struct task_struct___old *)task)->state;
}

/* The CPU of a task that runs or is about to: one load, where the helper costs six instructions. */
static __always_inline u32 task_cpu(struct task_struct *task)
{
	u32 cpu;

	if (!bpf_core_field_exists(((struct task_struct___cpu *)0)->cpu))
		return task->thread_info.cpu;
	cpu = ((struct task_struct___cpu *)task)->cpu;
	/* Or clang merges the two cases into one load at a computed offset. */
	asm volatile("" : "+r"(cpu));
	return cpu;
}

/* Of the unified hierarchy, or of v1's controller cpu. */
static __always_inline struct cgroup_subsys_state *task_css(struct task_struct *task, bool v2)
{
	struct css_set *set = task->cgroups;
	struct cgroup_subsys_state **subsys;

	if (v2)
		return &set->dfl_cgrp->self;
	subsys = (void *)&set->subsys;
	return subsys[bpf_core_enum_value(enum cgroup_subsys_id___core, cpu_cgrp_id___core)];
}

/* Whether quota keeps a task that can run from the core. */
static __always_inline bool task_throttled(struct task_struct *task)
{
	if (bpf_core_field_exists(((struct task_struct___throttled *)0)->throttled))
		return ((struct task_struct___throttled *)task)->throttled;
	if (!bpf_core_field_exists(((struct sched_entity *)0)->cfs_rq) ||
	    !bpf_core_field_exists(((struct cfs_rq___count *)0)->throttle_count))
		return false;
	return ((struct cfs_rq___count *)task->se.cfs_rq)->throttle_count > 0;
}

#endif
