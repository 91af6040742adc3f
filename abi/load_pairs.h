/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Keys and values of the maps that bpf/load_pairs.bpf.c writes and lib/measure/load/pairs.c reads.
 */
#ifndef SUBTICK_ABI_LOAD_PAIRS_H
#define SUBTICK_ABI_LOAD_PAIRS_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define LOAD_PAIRS_MAX	  16384
#define LOAD_PAIR_IDLE	  0	  /* cgroup id that represents the idle task */
#define LOAD_PAIR_UNKNOWN (~0ULL) /* cgroup id of a CPU before its first context switch */

/*
 * Key of the time in which group[0] runs on CPU `cpu` while group[1] runs on the sibling of `cpu`.
 */
struct load_pair_key {
	__u64 group[2]; /* cgroup ids */
	__u32 cpu;
	__u32 pad;
};

_Static_assert(sizeof(struct load_pair_key) == 24, "no hidden padding in a key");

/* State of one CPU. */
struct load_pair_cpu {
	__u64 group;	/* cgroup id of the running task */
	/*
	 * time of the last switch to another cgroup on either CPU of the core; valid only in the
	 * element of the core's first CPU
	 */
	__u64 since_ns;
	/* common run time in ns that was not counted, because the map of cgroup pairs was full */
	__s64 lost_ns;
	/* CPU number of the hyperthread sibling, or the CPU's own number if there is no sibling */
	__u32 sibling;
	__u32 pad[9];
};

_Static_assert(sizeof(struct load_pair_cpu) == 64, "a cache line");

#endif
