/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The load of a core from two samples: arithmetic only, the same for every source. */
#ifndef SUBTICK_STATS_LOAD_H
#define SUBTICK_STATS_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/load.h"
#include "base/cpuset.h"
#include "base/losses.h"

/*
 * The parts of a core's wall time, in the order in which views stack them; up to IDLE_LOOP the core
 * was not halted. Every source knows some of them, source bpf nearly all.
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
	LOAD_MULTIPLEXED = 1 << 0,  /* the counter did not run all the time */
	LOAD_READ_FAILED = 1 << 1,  /* no figure */
	LOAD_OFFLINE = 1 << 2,	    /* no figure */
	LOAD_HOTPLUGGED = 1 << 3,   /* went off- or online inside the window: no figure */
	LOAD_TORN = 1 << 4,	    /* changed during every attempt to read it: no figure */
	LOAD_NO_TIME = 1 << 5,	    /* the source's clock did not advance: no figure */
	LOAD_NOT_CONSTANT = 1 << 6, /* the event is not known to run at the clock's rate */
	LOAD_CLAMPED = 1 << 7,	    /* outside 0…1 by more than 0.1 %, shown as 0 or 1 */
	LOAD_RESTARTED = 1 << 8,    /* the counter was lost and opened again: no figure */
};

/* The sample itself is void: no window may begin or end with it. */
#define LOAD_VOID (LOAD_READ_FAILED | LOAD_OFFLINE | LOAD_TORN)
/* The window has no figure; the sample at its end may still begin the next one. */
#define LOAD_NO_FIGURE (LOAD_VOID | LOAD_HOTPLUGGED | LOAD_RESTARTED | LOAD_NO_TIME)

/*
 * Cumulative since the source was opened; only differences count. busy and total are in the
 * source's own unit: the load of a window is Δbusy / Δtotal × rate.
 */
struct load_sample {
	uint64_t stamp_ns; /* CLOCK_MONOTONIC at which this CPU was read */
	uint64_t wall_ns;  /* the reader's clock at that time, for the closure error */
	uint64_t busy;
	uint64_t total;
	uint64_t enabled_ns; /* counter sources: if these two differ, it took turns and is scaled */
	uint64_t running_ns;
	uint64_t part_ns[LOAD_NR_PARTS];
	uint64_t hotplug_steps; /* of this CPU so far, where the source sees them */
	uint32_t flags;
};

/* Softirq time by vector, cumulative; not part of the sample, as only --softirq reads it. */
struct load_vecs {
	uint64_t ns[LOAD_NR_VECS];
	uint64_t count[LOAD_NR_VECS];
};

/* Hardirq time of one CPU in a window, by line. */
struct load_line {
	uint32_t cpu;
	uint32_t irq;  /* number of a device's line; UINT32_MAX: none, such as an IPI */
	char name[32]; /* of the handler, as /proc/interrupts has it */
	uint64_t ns, count;
};

/* Task time of one CPU in a window, by task, without interrupts and softirqs on top. */
struct load_task {
	uint32_t cpu;
	uint32_t pid, tgid; /* UINT32_MAX: those without a name of their own */
	char comm[16];
	uint64_t ns, count; /* how often it left the CPU */
	uint64_t sleeps;    /* how often of these because it blocked or exited */
	uint64_t cgroup_id; /* 0: unknown */
	uint32_t parent;    /* tgid; 0: unknown */
};

/* Two hyperthread siblings at one moment, cumulative. */
struct load_smt_sample {
	uint64_t now_ns;
	uint64_t busy_ns[2];
	uint64_t both_ns[2]; /* both busy, as each of them counts it */
	bool torn;	     /* changed during every attempt to read it: the rest is 0 */
};

/* Number of siblings that are busy at the same time. */
enum load_siblings {
	LOAD_SIBLINGS_NONE,
	LOAD_SIBLINGS_ONE,
	LOAD_SIBLINGS_ALL,
	LOAD_NR_SIBLINGS,
};

/* A physical core in one window. With a flag of LOAD_NO_FIGURE the times are 0. */
struct load_core {
	uint32_t core, package; /* numbers of the kernel; UINT32_MAX: unknown */
	uint32_t cpu[2];	/* the same number twice: no sibling is online */
	uint64_t window_ns;
	uint64_t busy_ns[LOAD_NR_SIBLINGS];
	double closure_error_ratio; /* disagreement of the siblings with each other and with load */
	uint32_t flags;
};

/* Losses of a source since it was opened. LOAD_NO_LOSS: the source has no such counter. */
struct load_losses {
	LOAD_LOSSES(LOSS_MEMBER)
	LOAD_IRQ_LOSSES(LOSS_MEMBER)
};

#define LOAD_NO_LOSS UINT64_MAX

/*
 * One window of one CPU, as one source saw it. With a flag of LOAD_NO_FIGURE only window_ns and
 * flags count, the rest is 0.
 */
struct load_cpu_window {
	uint64_t window_ns; /* by this CPU's own stamps */
	uint64_t busy_ns;   /* the busy part of it: the source's count, scaled to the window */
	uint64_t part_ns[LOAD_NR_PARTS];
	double busy_ratio;	    /* the source's own figure: Δbusy / Δtotal × rate */
	double closure_error_ratio; /* |sum of parts − wall time by the reader| ÷ that wall time */
	uint32_t flags;
};

/*
 * The window between two samples. @rate turns busy into units of total (1.0 for most; 1e9/base
 * frequency in calibrated mode). @parts has a bit per part that the source knows; without any, no
 * closure is computed.
 */
void load_subtract(const struct load_sample *prev, const struct load_sample *cur, double rate,
		   uint32_t parts, struct load_cpu_window *ret_window);

/*
 * Fills times, closure error and flags of @core, whose CPUs are @a and @b in the same window. The time
 * with both busy is the mean of what the two siblings count.
 */
void load_core_subtract(const struct load_smt_sample *prev, const struct load_smt_sample *cur,
			const struct load_cpu_window *a, const struct load_cpu_window *b,
			struct load_core *core);

/*
 * Moves @steal_ns out of the parts in which the core was not halted, in proportion, because the
 * hypervisor does not say in which part it stole the time. Keeps the sum.
 */
void load_move_steal(struct load_cpu_window *window, uint64_t steal_ns);

/*
 * The CPUs of @cpus together: times are sums, ratios are means weighted by each CPU's window. CPUs
 * without a figure are left out. Returns how many were counted; 0: @ret_window is all 0.
 */
unsigned int load_sum(const struct load_cpu_window *cpu, const struct cpuset *cpus,
		      struct load_cpu_window *ret_window);

/* A part as a share of the window, 0…1. */
double load_part_ratio(const struct load_cpu_window *window, enum load_part part);

/* "softirq_on_idle", and "NET_RX" of a softirq vector. */
const char *load_part_name(enum load_part part);
const char *load_vec_name(unsigned int vec);
/* "multiplexed,offline": the flags' names, "" for none. */
void load_flags_format(uint32_t flags, char *buf, unsigned int size);

#endif
