/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Per-CPU task time between bpf/taskclock.bpf.c and lib/measure/load/taskclock.c. */
#ifndef SUBTICK_ABI_TASKCLOCK_H
#define SUBTICK_ABI_TASKCLOCK_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* As in abi/load.h: a read for which task_ns + idle_ns != state >> 1 is torn. */
struct taskclock_slot {
	__u64 state; /* stamp, ns since start << 1 | a task runs */
	__u64 task_ns;
	__u64 idle_ns;
	__u64 pad[5];
};

_Static_assert(sizeof(struct taskclock_slot) == 64, "a cache line per CPU");

#endif
