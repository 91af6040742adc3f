/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gtp-guard's cpu.h, for programs that were written for it: put this directory on the include path
 * and link libsubtick. The structs can be read, not written; see cpu_load(3) for all else.
 */
#ifndef SUBTICK_GTP_GUARD_CPU_H
#define SUBTICK_GTP_GUARD_CPU_H

/* Declares cpu_load_init(), cpu_load_init_tsc(), _update(), _get(), _nr() and _destroy(). */
#include "../cpu_load.h"

struct cpu_perf {
	int fd; /* -1 if the CPU has no figure; else no counter: read() and ioctl() fail with EBADF */
	uint64_t prev_cycles;  /* unhalted cycles at the last sample */
	uint64_t prev_time_ns; /* calibrated mode: the time that the counter was enabled */
	float load;	       /* 0.0 … 1.0 since the sample before, or -1.0 */
};

struct cpu_load {
	struct cpu_perf *cpus;
	int nr_cpus;
	uint64_t base_freq_hz; /* 0: TSC mode */
	uint64_t prev_tsc;     /* TSC mode: the clock at the last sample */
};

#endif
