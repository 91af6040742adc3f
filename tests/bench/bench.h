/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the benchmarks: medians with spread, and a check of the machine. */
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
 * Prints BPF programs of others on scheduler or interrupt events, or bpf_stats_enabled, and returns
 * false if there are any: they would be part of the measured cost.
 */
bool bench_machine_fit(void);
void bench_pin(int cpu);

#endif
