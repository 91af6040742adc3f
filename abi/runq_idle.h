/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Counters of bpf/runq_idle.bpf.c: waits for cores to leave an idle state, by group and idle state.
 */
#ifndef SUBTICK_ABI_RUNQ_IDLE_H
#define SUBTICK_ABI_RUNQ_IDLE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define RUNQ_IDLE_NR 16384 /* maximum number of counted pairs of group and idle state */

struct runq_idle_cpu {
	__u32 state;	/* number of the idle state that was requested last */
	__u32 unwanted; /* 1 if waits on this CPU are not counted; set by user space */
	/* number of waits whose pair of group and idle state did not fit into the table */
	__u64 full;
};

_Static_assert(sizeof(struct runq_idle_cpu) == 16, "no padding");

/* Size of the table of tasks, a power of two. The index of a task is its pid modulo this size. */
#define RUNQ_IDLE_TASKS 65536

/*
 * Time of a task's wake-up, in a table with the index pid modulo table size. If two tasks have the
 * same index, the later write replaces the entry.
 */
struct runq_idle_task {
	/* time of the wake-up; 0 if the task runs or its wake-up was not recorded */
	__u64 woken_ns;
	__u32 pid;
	__u32 pad;
};

struct runq_idle_key {
	__u64 group; /* key of the group, as in abi/runq.h */
	__u32 state;
	__u32 pad;
};

_Static_assert(sizeof(struct runq_idle_key) == 16, "no padding: it is a key");

struct runq_idle_waits {
	__u64 count;
	__u64 wait_ns;
};

#endif
