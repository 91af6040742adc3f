/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Arguments and results of the programs in bpf/crit.bpf.c. */
#ifndef SUBTICK_ABI_CRIT_H
#define SUBTICK_ABI_CRIT_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/*
 * Number of measured pairs of kfunc calls (disable, then enable) per program run. A program run
 * takes about 50 us, so user space can stop the measurement within about 50 us.
 */
#define CRIT_CHUNK   1024
#define CRIT_STRIDE  8	  /* number of measured pairs per overhead sample */
#define CRIT_EMPTIES (CRIT_CHUNK / CRIT_STRIDE)
#define CRIT_BATCH   32 /* number of kfunc pairs in a batch; two clock reads time a whole batch */
#define CRIT_BATCHES 32 /* number of batches of CRIT_BATCH pairs per program run */

struct crit_args {
	__u32 slot; /* index of the struct crit_slot for the results */
	__u32 nr;   /* number of pairs of kfunc calls that the program times, at most CRIT_CHUNK */
	/* 1 if a short critical section runs between the two kfunc calls of each pair */
	__u32 work;
	__u32 cpu;  /* output: current CPU */
};

_Static_assert(sizeof(struct crit_args) == 16, "context of the programs");

/* Measured times in ns. The times include the overhead of the clock reads. */
struct crit_slot {
	__u64 pair_ns[CRIT_CHUNK];
	/* durations of kfunc pairs that do almost nothing (PAIR_empty) */
	__u64 empty_ns[CRIT_EMPTIES];
	/* overhead of the clock: time between two consecutive clock reads */
	__u64 clock_ns[CRIT_EMPTIES];
	__u64 batch_pair_ns[CRIT_BATCHES];
	__u64 batch_empty_ns[CRIT_BATCHES];
	__u64 work_state;
	__u64 pad[7];
};

_Static_assert(sizeof(struct crit_slot) % 64 == 0, "whole cache lines per CPU");

#endif
