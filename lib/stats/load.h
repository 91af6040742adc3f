/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the load of a CPU from two samples of any source. */
#ifndef SUBTICK_STATS_LOAD_H
#define SUBTICK_STATS_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/load.h"
#include "base/cpuset.h"
#include "base/losses.h"

/*
 * Parts of a CPU's wall time, in the order of the stacked bar. The CPU is not halted in the parts
 * up to LOAD_PART_IDLE_LOOP. A load source may measure only some parts.
 */
enum load_part {
	LOAD_PART_TASK,
	LOAD_PART_HARDIRQ,
	LOAD_PART_SOFTIRQ_ON_IDLE,
	LOAD_PART_SOFTIRQ_ON_TASK,
	LOAD_PART_KSOFTIRQD,
	LOAD_PART_IDLE_LOOP,
	LOAD_PART_STEAL,
	LOAD_PART_UNKNOWN,
	LOAD_PART_POLL_IDLE,
	LOAD_PART_IDLE,
	LOAD_NR_PARTS,
};

enum load_flag {
	LOAD_MULTIPLEXED = 1 << 0,  /* a multiplexed counter did not run during the whole window */
	LOAD_READ_FAILED = 1 << 1,
	LOAD_OFFLINE = 1 << 2,
	/* the CPU went offline or online inside the window; load unknown */
	LOAD_HOTPLUGGED = 1 << 3,
	/* the sample changed during every attempt to read it; load unknown */
	LOAD_TORN = 1 << 4,
	LOAD_NO_TIME = 1 << 5,	    /* the clock of the source did not advance; load unknown */
	LOAD_NOT_CONSTANT = 1 << 6, /* the perf event may not count at a constant rate */
	/* the load or a part was outside of 0…1 by more than 0.1 % and was limited */
	LOAD_CLAMPED = 1 << 7,
	LOAD_RESTARTED = 1 << 8,    /* the counter was opened again; load unknown */
};

/* Flags of an invalid sample; no window may start or end at an invalid sample. */
#define LOAD_VOID (LOAD_READ_FAILED | LOAD_OFFLINE | LOAD_TORN)
/*
 * Flags of a window whose load is unknown. The sample at the end of the window may still be valid
 * as the start of the next window.
 */
#define LOAD_NO_FIGURE (LOAD_VOID | LOAD_HOTPLUGGED | LOAD_RESTARTED | LOAD_NO_TIME)

/*
 * Cumulative counters of a CPU since the source was opened. busy and total are in the unit of the
 * source. The load of a window is Δbusy / Δtotal × rate.
 */
struct load_sample {
	uint64_t stamp_ns; /* CLOCK_MONOTONIC when the CPU was sampled */
	/* time at which user space read the sample; used for closure_error_ratio */
	uint64_t wall_ns;
	uint64_t busy;
	uint64_t total;
	/* A multiplexed hardware counter has running_ns < enabled_ns and is scaled. */
	uint64_t enabled_ns;
	uint64_t running_ns;
	uint64_t part_ns[LOAD_NR_PARTS];
	/* number of hotplug events of the CPU, if the source counts them */
	uint64_t hotplug_steps;
	uint32_t flags;
};

/* Cumulative softirq time by vector; read only with --softirq. */
struct load_vecs {
	uint64_t ns[LOAD_NR_VECS];
	uint64_t count[LOAD_NR_VECS];
};

/* Hardirq time of one interrupt line on one CPU in a window. */
struct load_line {
	uint32_t cpu;
	/* interrupt number of a device; UINT32_MAX for an IPI and others without a number */
	uint32_t irq;
	char name[32]; /* name of the handler in /proc/interrupts */
	uint64_t ns, count;
};

/* Run time of a task on one CPU in a window, without interrupts and softirqs. */
struct load_task {
	uint32_t cpu;
	/* thread and process id; UINT32_MAX for the sum of all tasks that have no row */
	uint32_t pid, tgid;
	char comm[16];
	uint64_t ns, count; /* run time in ns, and number of context switches away from the task */
	uint64_t sleeps;    /* number of context switches at which the task blocked or exited */
	uint64_t cgroup_id; /* id of the task's cgroup, or 0 if unknown */
	uint32_t parent;    /* process id of the parent, or 0 if unknown */
};

/* Cumulative counters of two hyperthread siblings. */
struct load_smt_sample {
	uint64_t now_ns;
	uint64_t busy_ns[2];
	uint64_t both_ns[2]; /* ns in which both siblings were busy, counted once by each sibling */
	/* true if the counters changed during every read; all other members are then 0 */
	bool torn;
};

/* Number of busy siblings of a core. */
enum load_siblings {
	LOAD_SIBLINGS_NONE,
	LOAD_SIBLINGS_ONE,
	LOAD_SIBLINGS_ALL,
	LOAD_NR_SIBLINGS,
};

/*
 * Busy times of the siblings of a physical core in one window. If a flag of LOAD_NO_FIGURE is set,
 * all times are 0.
 */
struct load_core {
	/* core and package number that the kernel reports, or UINT32_MAX if unknown */
	uint32_t core, package;
	/* CPU numbers of the siblings; both are equal if the core has only one online CPU */
	uint32_t cpu[2];
	uint64_t window_ns;
	uint64_t busy_ns[LOAD_NR_SIBLINGS];
	/*
	 * (|both_ns[0] − both_ns[1]| + |busy_ns − busy time by the parts| of each sibling) ÷
	 * window_ns, with the counters of struct load_smt_sample
	 */
	double closure_error_ratio;
	uint32_t flags;
};

/* Loss counters since the source was opened. LOAD_NO_LOSS: the source has no such counter. */
struct load_losses {
	LOAD_LOSSES(LOSS_MEMBER)
	LOAD_IRQ_LOSSES(LOSS_MEMBER)
};

#define LOAD_NO_LOSS UINT64_MAX

/*
 * Times, busy ratio and flags of one CPU in one window. If a flag of LOAD_NO_FIGURE is set, only
 * window_ns and flags are valid, and all other members are 0.
 */
struct load_cpu_window {
	uint64_t window_ns; /* length of the window by the timestamps of the CPU */
	uint64_t busy_ns;
	uint64_t part_ns[LOAD_NR_PARTS];
	double busy_ratio;	    /* load of the CPU: Δbusy / Δtotal × rate of the source */
	/* |sum of the parts − wall time| ÷ wall time, by load_sample.wall_ns */
	double closure_error_ratio;
	uint32_t flags;
};

/*
 * Computes the window between two samples. @rate converts busy to the unit of total: 1.0 for most
 * sources, 1e9 / base frequency for source perf-calibrated. @parts is the bit set of the parts that
 * the source measures. closure_error_ratio is computed only if @parts is nonzero.
 */
void load_subtract(const struct load_sample *prev, const struct load_sample *cur, double rate,
		   uint32_t parts, struct load_cpu_window *ret_window);

/*
 * Fills times, closure error and flags of a physical core with the CPUs @a and @b. The time in
 * which both CPUs are busy is the mean of the two counters load_smt_sample.both_ns.
 */
void load_core_subtract(const struct load_smt_sample *prev, const struct load_smt_sample *cur,
			const struct load_cpu_window *a, const struct load_cpu_window *b,
			struct load_core *core);

/*
 * Moves @steal_ns from the other parts to the steal part. The kernel does not report which parts
 * the hypervisor interrupted, so each part except LOAD_PART_UNKNOWN loses time in proportion to its
 * length. This includes the idle parts, because the hypervisor may start a halted core late. The
 * sum of all parts is unchanged.
 */
void load_move_steal(struct load_cpu_window *window, uint64_t steal_ns);

/*
 * Sums the windows of several CPUs. Ratios in @ret_window are means, weighted by the window length
 * of each CPU. Skips CPUs whose load is unknown. Returns the number of CPUs in the sum. If no CPU
 * is in the sum, all members of @ret_window are 0.
 */
unsigned int load_sum(const struct load_cpu_window *cpu, const struct cpuset *cpus,
		      struct load_cpu_window *ret_window);

/* Ratio of a part to the window, from 0 to 1. */
double load_part_ratio(const struct load_cpu_window *window, enum load_part part);

/* Names such as "softirq_on_idle" and "NET_RX". */
const char *load_part_name(enum load_part part);
const char *load_vec_name(unsigned int vec);
/* Formats the names of the flags, such as "multiplexed,offline", or "" if no flag is set. */
void load_flags_format(uint32_t flags, char *buf, unsigned int size);

#endif
