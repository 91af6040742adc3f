/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Offers the interface of gtp-guard's cpu.h: programs that use that interface add this directory to
 * the include path and link libsubtick. See cpu_load(3).
 */
#ifndef SUBTICK_GTP_GUARD_CPU_H
#define SUBTICK_GTP_GUARD_CPU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The caller must only read the members. */
struct cpu_perf {
	/* -1, so that read() and ioctl() fail with EBADF, if the CPU has no load value */
	int fd;
	uint64_t prev_cycles;  /* unhalted cycles at the last sample */
	uint64_t prev_time_ns; /* calibrated mode: time for which the counter was enabled */
	float load;	       /* load between the last two samples from 0.0 to 1.0, or -1.0 */
};

struct cpu_load {
	struct cpu_perf *cpus;
	int nr_cpus;
	uint64_t base_freq_hz; /* 0: TSC mode */
	uint64_t prev_tsc;     /* TSC mode: value of the TSC at the last sample */
};

/*
 * Opens hardware counters of unhalted cycles at a constant rate. Returns 0, or -errno with errno
 * set.
 */
int cpu_load_init(struct cpu_load **ctx);     /* calibrated mode */
int cpu_load_init_tsc(struct cpu_load **ctx); /* TSC mode */
/*
 * Samples all CPUs. Samples a CPU. Its load is computed from this sample and the previous sample.
 */
void cpu_load_update(struct cpu_load *ctx);
/* Load from 0.0 to 1.0; -1.0 if the CPU is offline, not readable, or was sampled only once. */
float cpu_load_get(struct cpu_load *ctx, int cpu);
/* The highest CPU number that the machine can have, plus one. */
int cpu_load_nr(struct cpu_load *ctx);
void cpu_load_destroy(struct cpu_load *ctx);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
