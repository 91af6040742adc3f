/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Counters of bpf/runq_pressure.bpf.c: wall time in which tasks of a cgroup wait for a core. */
#ifndef SUBTICK_ABI_RUNQ_PRESSURE_H
#define SUBTICK_ABI_RUNQ_PRESSURE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define RUNQ_PRESSURE_NR \
	16384 /* maximum number of cgroups, including all ancestors; a power of two */
/* Size of the table of tasks, a power of two. The index of a task is its pid modulo this size. */
#define RUNQ_PRESSURE_TASKS 65536
#define RUNQ_PRESSURE_CPUS  2048 /* maximum number of CPUs; a power of two */
/* maximum nesting depth of cgroups including the root; a power of two */
#define RUNQ_PRESSURE_DEPTH 32

/*
 * Cause of the time in which tasks of a cgroup wait; a cgroup has one cause at a time. For tasks
 * directly in the cgroup: RUNQ_PRESSURE_QUOTA if CPU quota throttles a waiting task, else the first
 * cause of this list that a waiting task has. For a cgroup with its descendants: the first cause of
 * this list that one of the cgroups has.
 */
enum runq_pressure_cause {
	RUNQ_PRESSURE_CONTENTION, /* wait that began while a user task ran on the core */
	RUNQ_PRESSURE_KTHREAD,	  /* wait that began while a kernel thread ran on the core */
	RUNQ_PRESSURE_IDLE,	  /* wait that began while the core was idle */
	/* wait of a task that CPU quota throttled at the switch or wake-up that began the wait */
	RUNQ_PRESSURE_QUOTA,
	RUNQ_PRESSURE_NR_CAUSES,
};

/*
 * One word with the number of waiting tasks of a cgroup by cause, and the number of running tasks.
 * One atomic addition changes and reads all counts of the word. The state of a task
 * (RUNQ_PRESSURE_AT_*) is the lowest bit of its count in the word, or 0 if the task sleeps. A count
 * that overflows increments the next higher count.
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
/* Highest bit of each count: 1 if the count has reached half of its range. */
#define RUNQ_PRESSURE_CROWDED                                                            \
	(1ULL << (RUNQ_PRESSURE_AT_QUOTA - 1) | 1ULL << (RUNQ_PRESSURE_AT_KTHREAD - 1) | \
	 1ULL << (RUNQ_PRESSURE_AT_IDLE - 1) | 1ULL << (RUNQ_PRESSURE_AT_RUNS - 1) | 1ULL << 63)

/*
 * Returns the cause of the wait time of a cgroup whose counts are @state. Returns
 * RUNQ_PRESSURE_NR_CAUSES if no task waits.
 */
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
 * Constant that the programs add to the start and end time of each interval. The constant cancels
 * out in the sum of a closed interval. If a reader sees only half of an update, the sum is wrong by
 * one timestamp; the constant makes the error large enough to be detected.
 */
#define RUNQ_PRESSURE_STAMP (1ULL << 62)

/*
 * Counters of a cgroup with its descendants. Each time is the sum of the end times minus the sum of
 * the start times of its intervals. For an open interval the reader adds the current time.
 */
struct runq_pressure_group {
	__u64 own; /* numbers of the cgroup's own tasks by state, in one word */
	/*
	 * number of cgroups by cause of their wait time, and number of cgroups with a running task,
	 * among this cgroup and its descendants, in one word
	 */
	__u64 state;
	/* time in which the cgroup or a descendant had a waiting task */
	__u64 waiting[RUNQ_PRESSURE_NR_CAUSES];
	/* time in which the cgroup and its descendants had a waiting task and no running task */
	__u64 stalled[RUNQ_PRESSURE_NR_CAUSES];
	__u64 key; /* key of the cgroup as in abi/runq.h; 0 if the element is free */
	__u32 up;  /* index of the parent cgroup in groups[]; 0 for the root */
	__u32 gone;				/* 1 if the cgroup was removed */
	__u64 pad[4];
};

_Static_assert(sizeof(struct runq_pressure_group) == 128, "cache lines");

#endif
