/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CPU load with the interface of gtp-guard's cpu.h. A program that uses this interface adds this
 * directory to its include path and links libsubtick. cpu_load(3) describes the functions.
 */
#ifndef SUBTICK_GTP_GUARD_CPU_H
#define SUBTICK_GTP_GUARD_CPU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * Measurements of one CPU, owned by the context. Callers may read the members of struct cpu_perf,
 * but must not change them.
 */
struct cpu_perf {
	/* descriptor on which read() and ioctl() fail with EBADF; -1 if the load is unavailable */
	int fd;
	uint64_t prev_cycles;  /* unhalted cycles at the last sample */
	uint64_t prev_time_ns; /* calibrated mode: ns for which the counter was enabled */
	float load;	       /* load between the last two samples, 0.0 to 1.0; -1.0: none */
};

struct cpu_load {
	struct cpu_perf *cpus;
	int nr_cpus;
	uint64_t base_freq_hz; /* rate of the cycle clock in Hz; 0 in TSC mode */
	uint64_t prev_tsc;     /* TSC mode: value of the TSC at the last sample */
};

/*
 * Open a hardware counter per CPU that counts unhalted cycles at a constant rate, and store a new
 * context in @ctx, to be freed with cpu_load_destroy(). Return 0, or -errno with errno set.
 */
int cpu_load_init(struct cpu_load **ctx);     /* calibrated mode */
int cpu_load_init_tsc(struct cpu_load **ctx); /* TSC mode */
/* Samples all CPUs. The load of a CPU is computed from its last two samples. */
void cpu_load_update(struct cpu_load *ctx);
/*
 * Returns the load from 0.0 to 1.0, or -1.0 if the CPU is offline, unreadable or was sampled once.
 */
float cpu_load_get(struct cpu_load *ctx, int cpu);
/* Returns the highest CPU number that the machine can have, plus one. */
int cpu_load_nr(struct cpu_load *ctx);
/* Closes the counters and frees the context. */
void cpu_load_destroy(struct cpu_load *ctx);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
