/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Counters of bpf/runq_avoidable.bpf.c. Wait time is avoidable if another core that the task may
 * use is idle.
 */
#ifndef SUBTICK_ABI_RUNQ_AVOIDABLE_H
#define SUBTICK_ABI_RUNQ_AVOIDABLE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define RUNQ_AVOIDABLE_NR    16384 /* maximum number of groups */
/* Size of the table of tasks, a power of two. The index of a task is its pid modulo this size. */
#define RUNQ_AVOIDABLE_TASKS 65536
#define RUNQ_AVOIDABLE_CPUS  1024 /* maximum number of CPUs; a power of two */
#define RUNQ_AVOIDABLE_WORDS (RUNQ_AVOIDABLE_CPUS / 64)

/*
 * Maximum number of sets of cores. Each set has an accumulator of its idle time. Set 0 contains all
 * cores; each further set contains the cores of a CPU mask that tasks have. Sets are numbered in
 * the order of their first use.
 */
#define RUNQ_AVOIDABLE_SETS	9
#define RUNQ_AVOIDABLE_ALL_SETS ((1ULL << RUNQ_AVOIDABLE_SETS) - 1)

/*
 * A 64-bit accumulator of the time during which a condition holds. The lower 12 bits of an
 * accumulator are the number n of open intervals (signed). The upper bits of an accumulator are
 * `sum`: the end times of closed intervals minus the start times of all intervals. At the current
 * time t, an accumulator represents the time `sum` + n × t, modulo 2^52 ns. One atomic addition
 * opens or closes an interval of an accumulator.
 */
#define RUNQ_AVOIDABLE_SHIFT 12
#define RUNQ_AVOIDABLE_OPEN(ns)	 ((-(__u64)(ns) << RUNQ_AVOIDABLE_SHIFT) + 1)
#define RUNQ_AVOIDABLE_CLOSE(ns) (((__u64)(ns) << RUNQ_AVOIDABLE_SHIFT) - 1)

/* Bits of runq_avoidable_cpu.flags. Bit i (0 to 15) is 1 if the core counts as idle in set i. */
/* bit RUNQ_AVOIDABLE_MEMBER + i is 1 if the core belongs to set i */
#define RUNQ_AVOIDABLE_MEMBER 16
#define RUNQ_AVOIDABLE_IDLE   (1ULL << 62)
#define RUNQ_AVOIDABLE_SEEN   (1ULL << 63) /* flag: RUNQ_AVOIDABLE_IDLE is valid */

struct runq_avoidable_cpu {
	__u64 flags;
	__u64 idle;	/* accumulator of the idle time of this core */
	__u64 unwanted; /* 1 if waits on this CPU are not counted; set by user space */
	/*
	 * number of waits that were not counted, because their start is unknown or the table of
	 * groups is full
	 */
	__u64 lost;
	/* number of waits in `lost` that were not counted because the table of groups is full */
	__u64 full;
	__u64 left_ns;	/* end of the core's last idle period, CLOCK_MONOTONIC */
	__u64 pad[2];
};

struct runq_avoidable_set {
	__s64 nr;    /* number of idle cores in the set */
	__u64 idle;  /* accumulator of the time in which at least one core is idle */
	__u64 key;   /* key of the CPU mask; 0 if the set is unused */
	__u64 ready; /* 1 after all cores of the CPU mask were added to the set */
	__u64 cpu;   /* number of the core that went idle last among the cores of the set */
	__u64 pad[3];
};

_Static_assert(sizeof(struct runq_avoidable_cpu) == 64 && sizeof(struct runq_avoidable_set) == 64,
	       "cache lines");

/*
 * Entry of a waiting task, in a table with the index pid modulo table size. If two tasks have the
 * same index, the later write replaces the entry.
 */
struct runq_avoidable_task {
	__u64 since_ns; /* start of the wait, CLOCK_MONOTONIC; 0 if the task does not wait */
	__u64 all;	/* at the start of the wait: idle time of set 0 minus idle time of @cpu */
	/* at the start of the wait: idle time of @set minus idle time of @cpu */
	__u64 own;
	/* the kernel's total throttled time of the group in ns, plus 1; or a value THROTTLED_* */
	__u64 throttled;
	__u32 pid;
	__u16 set;
	__u16 cpu; /* CPU on which the wait began */
};

/*
 * Sums of all waits of a group. least_ns and most_ns are the lower and upper bound of the avoidable
 * time.
 */
struct runq_avoidable_waits {
	__u64 least_ns;
	__u64 most_ns;
	/* wait time in which only cores were idle on which the task may not run */
	__u64 excluded_ns;
	/*
	 * number of a core that was idle during a recent avoidable wait, plus 1; 0 if there is none
	 */
	__u32 cpu;
	__u32 excluded_cpu;
};

#endif
