/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moments, quantiles, and percentiles over sliding windows. */
#ifndef SUBTICK_STATS_QUANTILE_H
#define SUBTICK_STATS_QUANTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Mean and variance by Welford's algorithm, precise for large values with a small spread. */
struct moments {
	uint64_t count;
	double mean;
	double m2;
	double min;
	double max;
};

void moments_add(struct moments *moments, double value);
/* Sample standard deviation (n - 1), or 0 with fewer than two values. */
double moments_stddev(const struct moments *moments);

void quantile_sort(double *values, size_t nr);
/*
 * Quantile of sorted values with linear interpolation. @share is from 0 to 1. Returns NAN if there
 * are no values.
 */
double quantile_of(const double *sorted, size_t nr, double share);

/* Number of counter reads in the sliding window. */
#define PERCENTILE_LOOKS 10

struct percentile_look {
	uint64_t ns;
	uint64_t values; /* cumulative number of values */
	uint64_t high;	 /* cumulative number of values at or above the limit */
};

struct percentile_watch {
	uint32_t above_ppm; /* share of values above the percentile in ppm: 10000 for p99 */
	struct percentile_look looks[PERCENTILE_LOOKS];
	size_t nr; /* number of reads so far */
};

/*
 * Adds the counter values @now to the sliding window. The percentile reaches the limit if the share
 * of values at or above the limit exceeds above_ppm. If so, stores the counts of the window in
 * @ret_window and returns true. Returns false at the first read, and while the window has fewer
 * than 1000000 / above_ppm values (100 for p99).
 */
bool percentile_watch_look(struct percentile_watch *watch, const struct percentile_look *now,
			   struct percentile_look *ret_window);

#endif
