/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the BPF programs of `subtick runq` switch by switch, on one core with many cgroups. */
#ifndef SUBTICK_TESTS_UNIT_RUNQ_SWITCH_H
#define SUBTICK_TESTS_UNIT_RUNQ_SWITCH_H

#include "runq_core.h"

#define NR_GROUPS 200

/* Each group is a cgroup with one task. The task of group i has pid 10 + i. */
static struct kernfs_node root_kn = {.name = ""}, kn[NR_GROUPS];
static struct cgroup cgroup[NR_GROUPS];
static struct css_set css[NR_GROUPS];
static struct cfs_rq cfs_rq[NR_GROUPS];
static struct task_struct task[NR_GROUPS], idle;
static int (*program)(u64 *);

static inline int reset(void **state)
{
	fake_reset();
	program = runq_general;
	for (u32 i = 0; i < NR_GROUPS; i++) {
		kn[i] = (struct kernfs_node){.name = "leaf", .id = 500 + i, .__parent = &root_kn};
		cgroup[i] =
			(struct cgroup){.self = {&cgroup[i], CSS_ONLINE, 1000 + i, NULL}, .kn = &kn[i]};
		css[i].dfl_cgrp = &cgroup[i];
		cfs_rq[i] = (struct cfs_rq){.rq = &fake.rq[0]};
		task[i] = (struct task_struct){.pid = 10 + i,
					       .tgid = 10 + i,
					       .comm = "task",
					       .start_time = 7,
					       .cgroups = &css[i]};
		task[i].se.cfs_rq = &cfs_rq[i];
	}
	idle = (struct task_struct){.flags = PF_KTHREAD, .cgroups = &css[0]};
	idle.se.cfs_rq = &cfs_rq[0];
	return 0;
}

static inline void at(u64 ns)
{
	shim_now = 200000000 + ns;
	fake_clock(0);
}

static inline void wake(u64 ns, struct task_struct *who)
{
	at(ns);
	fake_enqueue(who, who->se.cfs_rq);
}

static inline void swap(u64 ns, struct task_struct *prev, struct task_struct *next, bool sleeps)
{
	at(ns);
	fake_switch(0, program, prev, next, sleeps);
}

static inline struct fake_totals sum_of(u32 group)
{
	struct runq_head *head = fake_head(1000 + group);

	assert_non_null(head);
	return fake_read(head);
}

#endif
