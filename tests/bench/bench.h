/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Median and quartiles of the benchmarks. */
#ifndef SUBTICK_TESTS_BENCH_BENCH_H
#define SUBTICK_TESTS_BENCH_BENCH_H

#include <stddef.h>
#include <stdlib.h>

struct bench_spread {
	double median;
	double low, high; /* lower and upper quartile */
};

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Returns the median and the quartiles of @values. Sorts @values. */
static inline struct bench_spread bench_spread(double *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), bench_compare);
	return (struct bench_spread){
		.median = values[nr / 2], .low = values[nr / 4], .high = values[nr * 3 / 4]};
}

#endif
