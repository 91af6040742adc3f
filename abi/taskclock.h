/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Per-CPU data of bpf/taskclock.bpf.c. */
#ifndef SUBTICK_ABI_TASKCLOCK_H
#define SUBTICK_ABI_TASKCLOCK_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/*
 * Task time and idle time of one CPU. A read of `state`, task_ns and idle_ns is consistent if
 * task_ns + idle_ns == state >> 1. A reader repeats an inconsistent read.
 */
struct taskclock_slot {
	__u64 state; /* ns since the start << 1; bit 0 is 1 if a task runs */
	__u64 task_ns;
	__u64 idle_ns;
	__u64 pad[5];
};

_Static_assert(sizeof(struct taskclock_slot) == 64, "a cache line per CPU");

#endif
