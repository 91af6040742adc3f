/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the benchmarks: medians and ratios with their spread, and a check of the machine. */
#ifndef SUBTICK_TESTS_BENCH_BENCH_H
#define SUBTICK_TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#define BENCH_MAX_ROUNDS 99

struct bench_spread {
	double median;
	double low, high; /* quartiles */
};

/* Sorts @values. */
struct bench_spread bench_spread(double *values, size_t nr);
/*
 * @over by @under, round by round: what one variant adds by what another one does. A round in which
 * @under adds nothing counts as infinite.
 */
struct bench_spread bench_ratio(const double *over, const double *under, size_t nr);
/* {"ratio", "ratio_low", "ratio_high"}; JSON has no infinity: null. */
json_t *bench_ratio_json(const struct bench_spread *ratio);

/*
 * Prints BPF programs of others on scheduler or interrupt events, or bpf_stats_enabled, and returns
 * false if there are any: they would be part of the measured cost.
 */
bool bench_machine_fit(void);
void bench_pin(int cpu);

#endif
