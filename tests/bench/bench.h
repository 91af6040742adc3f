/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What benchmarks share: medians with spread, and a machine fit to be measured on. */
#ifndef SUBTICK_TESTS_BENCH_BENCH_H
#define SUBTICK_TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>

struct bench_spread {
	double median;
	double low, high; /* quartiles */
};

/* Sorts @values. */
struct bench_spread bench_spread(double *values, size_t nr);

/*
 * Foreign BPF programs on scheduler or interrupt events, or bpf_stats_enabled, would be measured
 * along: prints which, returns false.
 */
bool bench_machine_fit(void);
void bench_pin(int cpu);

#endif
