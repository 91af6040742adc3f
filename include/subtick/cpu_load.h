/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How busy each CPU core really is, for programs that place work on cores. */
#ifndef SUBTICK_CPU_LOAD_H
#define SUBTICK_CPU_LOAD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One context belongs to one thread at a time: calls on the same context must not overlap.
 * Different contexts are independent. After fork(), only one side may use a context.
 * With a NULL context or result pointer a function returns -EINVAL, -1.0 or NULL, by its type.
 * See cpu_load(3).
 */
struct cpu_load;

/* Hardware counter sources: unhalted cycles at a constant rate. 0 or -errno. */
int cpu_load_init(struct cpu_load **ctx);     /* calibrated mode */
int cpu_load_init_tsc(struct cpu_load **ctx); /* TSC mode */

/* Samples all CPUs; the load is that of the time since the previous sample. */
void cpu_load_update(struct cpu_load *ctx);
/* 0.0 … 1.0, or -1.0 if there is no figure: offline, not readable, or no second sample yet. */
float cpu_load_get(struct cpu_load *ctx, int cpu);
/* The highest CPU number that the machine can have, plus one. */
int cpu_load_nr(struct cpu_load *ctx);
void cpu_load_destroy(struct cpu_load *ctx);

struct cpu_load_opts {
	/* sizeof(struct cpu_load_opts): lets the struct grow without breaking callers. */
	uint32_t size;
	uint32_t reserved; /* 0 */
	/*
	 * NULL or "auto": the best that works on this machine. Or a name: bpf, bpf-pmu, perf-tsc,
	 * perf-calibrated, procidle, schedstat, taskclock, procstat.
	 */
	const char *source;
	/* Counter sources: an event instead of the architecture's own, or NULL. */
	const char *event;
};

/* Opens any source. 0, or -errno: -EINVAL for an unknown name, -EPERM, -ENODEV, -EOPNOTSUPP … */
int cpu_load_open(struct cpu_load **ret, const struct cpu_load_opts *opts);
/* The name of the source in use. */
const char *cpu_load_source(const struct cpu_load *ctx);
/* One sentence that says why the last cpu_load_open() or _init() of this thread failed. */
const char *cpu_load_strerror(void);

/* Bits of cpu_load_split.flags. */
enum cpu_load_flag {
	CPU_LOAD_MULTIPLEXED = 1 << 0,	/* the counter took turns with others; scaled */
	CPU_LOAD_READ_FAILED = 1 << 1,	/* no figure */
	CPU_LOAD_OFFLINE = 1 << 2,	/* no figure */
	CPU_LOAD_HOTPLUGGED = 1 << 3,	/* no figure: went off- or online inside the window */
	CPU_LOAD_TORN = 1 << 4,		/* no figure: changed during every attempt to read it */
	CPU_LOAD_NO_TIME = 1 << 5,	/* no figure: the source's clock did not advance */
	CPU_LOAD_NOT_CONSTANT = 1 << 6, /* the event is not known to run at the clock's rate */
	CPU_LOAD_CLAMPED = 1 << 7,	/* was outside 0…1 by more than 0.1 % */
	CPU_LOAD_RESTARTED = 1 << 8,	/* no figure: the counter was lost and opened again */
};

/* Shares of the window, 0.0 … 1.0; -1.0 if the source does not measure it. */
struct cpu_load_split {
	uint64_t window_ns;
	float busy;
	float task;
	float hardirq;
	float softirq_on_idle;
	float softirq_on_task;
	float ksoftirqd;
	float idle_loop;
	float steal; /* taken by the hypervisor; busy is without it. -1.0 until the kernel shows any */
	float poll_idle;
	float idle;
	float unknown;
	float closure_error;
	uint32_t flags;
};

/* The whole last window of one CPU. 0, or -EINVAL for a CPU out of range. */
int cpu_load_get_split(struct cpu_load *ctx, int cpu, struct cpu_load_split *ret_split);

#ifdef __cplusplus
}
#endif

#endif
