/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers of the benchmarks: medians and ratios with quartiles, and checks of the machine. */
#ifndef SUBTICK_TESTS_BENCH_BENCH_H
#define SUBTICK_TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#define BENCH_MAX_ROUNDS 99

struct bench_spread {
	double median;
	double low, high; /* lower and upper quartile */
};

/* Returns the median and the quartiles of @values. Sorts @values. */
struct bench_spread bench_spread(double *values, size_t nr);
/*
 * Returns median and quartiles of the ratio @over / @under over all rounds. The ratio compares the
 * costs of two variants, and is infinite if @under is 0.
 */
struct bench_spread bench_ratio(const double *over, const double *under, size_t nr);
/*
 * Returns a JSON object with "ratio", "ratio_low" and "ratio_high". The JSON value of an infinite
 * ratio is null.
 */
json_t *bench_ratio_json(const struct bench_spread *ratio);

/*
 * False if bpf_stats_enabled is set or if other processes have BPF tracing programs, because both
 * conditions change the measured cost. Prints the reason.
 */
bool bench_machine_fit(void);
void bench_pin(int cpu);

/*
 * Argument of bench_echo(): CPU of the thread, eventfd from which it reads, and eventfd to which it
 * writes.
 */
struct bench_echo {
	int cpu, in, out;
};

/*
 * Thread function. Writes to the eventfd `out` of @arg for each read from `in`. Returns NULL after
 * reading 1000 or more.
 */
void *bench_echo(void *arg);
/*
 * Returns the mean time of @nr round trips between two cores in ns. In a round trip each core goes
 * idle and is woken once.
 */
double bench_round_trips(int to, int from, int nr);

#endif
