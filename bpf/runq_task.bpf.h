/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Fields of tasks and cgroups that the programs of runq read. */
#ifndef SUBTICK_BPF_RUNQ_TASK_H
#define SUBTICK_BPF_RUNQ_TASK_H

#include "task.bpf.h"

/* The key of the task's cgroup. The root of v2 has number 0, which becomes 1, a v1 root's. */
static __always_inline u64 task_cgroup(struct task_struct *task, bool v2)
{
	if (!v2)
		return task_css(task, false)->serial_nr;
	return task_css(task, true)->serial_nr ?: 1;
}

/* NULL of a cgroup of another hierarchy. */
static __always_inline struct cgroup_subsys_state *cgroup_css(struct cgroup *cgroup, bool v2)
{
	struct cgroup_subsys_state **subsys = (void *)&cgroup->subsys;

	if (v2)
		return &cgroup->self;
	return subsys[bpf_core_enum_value(enum cgroup_subsys_id___core, cpu_cgrp_id___core)];
}

#endif
