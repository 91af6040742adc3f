/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reads fields of tasks and cgroups that differ between kernel versions. */
#ifndef SUBTICK_BPF_TASK_H
#define SUBTICK_BPF_TASK_H

#include "kernel.bpf.h"

#define unlikely(x) __builtin_expect(!!(x), 0)

static __always_inline bool task_runnable(struct task_struct *task)
{
	if (bpf_core_field_exists(((struct task_struct___new *)0)->__state))
		return !((struct task_struct___new *)task)->__state;
	return !((struct task_struct___old *)task)->state;
}

/*
 * Returns the CPU of a task from its task_struct. bpf_get_smp_processor_id() would cost six
 * instructions.
 */
static __always_inline u32 task_cpu(struct task_struct *task)
{
	u32 cpu;

	if (!bpf_core_field_exists(((struct task_struct___cpu *)0)->cpu))
		return task->thread_info.cpu;
	cpu = ((struct task_struct___cpu *)task)->cpu;
	/* Without the asm barrier, clang merges the loads of both `cpu` fields into one load. */
	asm volatile("" : "+r"(cpu));
	return cpu;
}

/*
 * Returns the cgroup of a task in the unified hierarchy, or in the hierarchy of the v1 controller
 * cpu.
 */
static __always_inline struct cgroup_subsys_state *task_css(struct task_struct *task, bool v2)
{
	struct css_set *set = task->cgroups;
	struct cgroup_subsys_state **subsys;

	if (v2)
		return &set->dfl_cgrp->self;
	subsys = (void *)&set->subsys;
	return subsys[bpf_core_enum_value(enum cgroup_subsys_id___core, cpu_cgrp_id___core)];
}

static __always_inline u64 task_cgroup_id(struct task_struct *task, bool v2)
{
	return v2 ? task->cgroups->dfl_cgrp->kn->id : task_css(task, false)->cgroup->kn->id;
}

/*
 * Returns the key of the task's cgroup. The root of cgroup v2 has serial number 0 but key 1, like
 * the root of a v1 hierarchy.
 */
static __always_inline u64 task_cgroup(struct task_struct *task, bool v2)
{
	if (!v2)
		return task_css(task, false)->serial_nr;
	return task_css(task, true)->serial_nr ?: 1;
}

/* Returns the css of a cgroup, or NULL if the cgroup belongs to another hierarchy. */
static __always_inline struct cgroup_subsys_state *cgroup_css(struct cgroup *cgroup, bool v2)
{
	struct cgroup_subsys_state **subsys = (void *)&cgroup->subsys;

	if (v2)
		return &cgroup->self;
	return subsys[bpf_core_enum_value(enum cgroup_subsys_id___core, cpu_cgrp_id___core)];
}

/* Returns true if CPU quota throttles a runnable task. */
static __always_inline bool task_throttled(struct task_struct *task)
{
	if (bpf_core_field_exists(((struct task_struct___throttled *)0)->throttled))
		return ((struct task_struct___throttled *)task)->throttled;
	if (!bpf_core_field_exists(((struct sched_entity *)0)->cfs_rq) ||
	    !bpf_core_field_exists(((struct cfs_rq___count *)0)->throttle_count))
		return false;
	return ((struct cfs_rq___count *)task->se.cfs_rq)->throttle_count > 0;
}

/*
 * Reads the total time for which CPU quota throttled the task's group on the task's CPU. The kernel
 * adds the time of a throttling to the total when the throttling ends.
 */
static __always_inline bool throttled_total(struct task_struct *task, u64 *ret_ns)
{
	struct cfs_rq *cfs_rq;

	if (!bpf_core_field_exists(((struct sched_entity *)0)->cfs_rq))
		return false;
	cfs_rq = task->se.cfs_rq;
	if (bpf_core_field_exists(((struct cfs_rq___self *)0)->throttled_clock_self_time))
		*ret_ns = ((struct cfs_rq___self *)cfs_rq)->throttled_clock_self_time;
	else if (bpf_core_field_exists(((struct cfs_rq___pelt *)0)->throttled_clock_pelt_time))
		*ret_ns = ((struct cfs_rq___pelt *)cfs_rq)->throttled_clock_pelt_time;
	else if (bpf_core_field_exists(((struct cfs_rq___task *)0)->throttled_clock_task_time))
		*ret_ns = ((struct cfs_rq___task *)cfs_rq)->throttled_clock_task_time;
	else
		return false;
	return true;
}

/*
 * Returns the time since CPU quota began to throttle the group of a throttled task. Returns 0 if
 * the kernel does not store when the throttling began. Before Linux 6.6 the kernel stores no start
 * for throttling by the quota of an ancestor.
 */
static __always_inline u64 throttled_so_far(struct task_struct *task)
{
	struct cfs_rq *cfs_rq;
	u64 since = 0;

	if (!bpf_core_field_exists(((struct sched_entity *)0)->cfs_rq))
		return 0;
	cfs_rq = task->se.cfs_rq;
	if (bpf_core_field_exists(((struct cfs_rq___self *)0)->throttled_clock_self))
		since = ((struct cfs_rq___self *)cfs_rq)->throttled_clock_self;
	else if (bpf_core_field_exists(((struct cfs_rq___own *)0)->throttled_clock) &&
		 ((struct cfs_rq___own *)cfs_rq)->throttled)
		since = ((struct cfs_rq___own *)cfs_rq)->throttled_clock;
	return since ? cfs_rq->rq->clock - since : 0;
}

#endif
