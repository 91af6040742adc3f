/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Counters of bpf/runq_pressure.bpf.c: wall time in which tasks of a cgroup wait for a core. */
#ifndef SUBTICK_ABI_RUNQ_PRESSURE_H
#define SUBTICK_ABI_RUNQ_PRESSURE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define RUNQ_PRESSURE_NR \
	16384 /* cgroups, those between them and the root included; a power of two */
#define RUNQ_PRESSURE_TASKS 65536 /* entries of the table by pid; a power of two */
#define RUNQ_PRESSURE_CPUS  2048  /* a power of two */
#define RUNQ_PRESSURE_DEPTH 32	  /* cgroups from a task's own to the root; a power of two */

/*
 * Why a cgroup waits. Quota is given to a cgroup: if it keeps one of its tasks from the core, it is why
 * they wait. Else the first of these that one of them waits for. Where several cgroups below one
 * another wait for different reasons, the first of these is the reason of the one above them.
 */
enum runq_pressure_cause {
	RUNQ_PRESSURE_CONTENTION, /* a task had the core when the wait began */
	RUNQ_PRESSURE_KTHREAD,	  /* a kernel thread had it */
	RUNQ_PRESSURE_IDLE,	  /* the core was idle and must leave its idle state */
	RUNQ_PRESSURE_QUOTA, /* it lost the core to its CPU quota, or was woken while that was used up */
	RUNQ_PRESSURE_NR_CAUSES,
};

/*
 * Number of tasks of a cgroup that wait, by cause, and that run, in one word: one atomic addition
 * changes and reads them. A count has the bits from its position to the next position. The state of
 * a task is its position; 0: asleep. A count that overflows carries into the next count until it
 * falls.
 */
#define RUNQ_PRESSURE_AT_ASLEEP	    0
#define RUNQ_PRESSURE_AT_CONTENTION 1
#define RUNQ_PRESSURE_AT_QUOTA	    15
#define RUNQ_PRESSURE_AT_KTHREAD    29
#define RUNQ_PRESSURE_AT_IDLE	    41
#define RUNQ_PRESSURE_AT_RUNS	    52

#define RUNQ_PRESSURE_BITS(from, to) ((1ULL << (to)) - (1ULL << (from)))
#define RUNQ_PRESSURE_CONTENDED \
	RUNQ_PRESSURE_BITS(RUNQ_PRESSURE_AT_CONTENTION, RUNQ_PRESSURE_AT_QUOTA)
#define RUNQ_PRESSURE_THROTTLED RUNQ_PRESSURE_BITS(RUNQ_PRESSURE_AT_QUOTA, RUNQ_PRESSURE_AT_KTHREAD)
#define RUNQ_PRESSURE_KTHREADED RUNQ_PRESSURE_BITS(RUNQ_PRESSURE_AT_KTHREAD, RUNQ_PRESSURE_AT_IDLE)
#define RUNQ_PRESSURE_IDLED	RUNQ_PRESSURE_BITS(RUNQ_PRESSURE_AT_IDLE, RUNQ_PRESSURE_AT_RUNS)
/* The highest bit of each count: it is nearly too large. */
#define RUNQ_PRESSURE_CROWDED                                                            \
	(1ULL << (RUNQ_PRESSURE_AT_QUOTA - 1) | 1ULL << (RUNQ_PRESSURE_AT_KTHREAD - 1) | \
	 1ULL << (RUNQ_PRESSURE_AT_IDLE - 1) | 1ULL << (RUNQ_PRESSURE_AT_RUNS - 1) | 1ULL << 63)

/* Cause by the counts of cgroups; RUNQ_PRESSURE_NR_CAUSES if no task waits. */
static inline __attribute__((always_inline)) __u32 runq_pressure_cause(__u64 state)
{
	if (state & RUNQ_PRESSURE_CONTENDED)
		return RUNQ_PRESSURE_CONTENTION;
	if (state & RUNQ_PRESSURE_KTHREADED)
		return RUNQ_PRESSURE_KTHREAD;
	if (state & RUNQ_PRESSURE_IDLED)
		return RUNQ_PRESSURE_IDLE;
	return state & RUNQ_PRESSURE_THROTTLED ? RUNQ_PRESSURE_QUOTA : RUNQ_PRESSURE_NR_CAUSES;
}

/*
 * Stamps are CLOCK_MONOTONIC plus this. It cancels out in the time of an interval that has ended. A
 * reader that meets a change half done is off by one stamp, and notices.
 */
#define RUNQ_PRESSURE_STAMP (1ULL << 62)

/*
 * A cgroup with everything below it. A time is the sum of the end stamps of its intervals minus
 * their start stamps. An open interval lacks its end stamp.
 */
struct runq_pressure_group {
	__u64 own;   /* counts of its own tasks */
	__u64 state; /* the same counts of cgroups: it and those below, each with one cause */
	__u64 waiting[RUNQ_PRESSURE_NR_CAUSES]; /* at least one task waits */
	__u64 stalled[RUNQ_PRESSURE_NR_CAUSES]; /* the same, and none runs */
	__u64 key;				/* as in abi/runq.h; 0: free */
	__u32 up;				/* the cgroup above it; 0: none, this is the root */
	__u32 gone;				/* it was removed */
	__u64 pad[4];
};

_Static_assert(sizeof(struct runq_pressure_group) == 128, "cache lines");

#endif
