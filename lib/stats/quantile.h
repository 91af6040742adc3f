/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moments, quantiles, and percentiles over sliding windows. */
#ifndef SUBTICK_STATS_QUANTILE_H
#define SUBTICK_STATS_QUANTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Welford's update: no loss of precision for large values that are close to each other. */
struct moments {
	uint64_t count;
	double mean;
	double m2;
	double min;
	double max;
};

void moments_add(struct moments *moments, double value);
/* The standard deviation of the sample (n - 1); 0 for fewer than two values. */
double moments_stddev(const struct moments *moments);

void quantile_sort(double *values, size_t nr);
/* The quantile of sorted values, linear between neighbours; @share 0…1. NAN without values. */
double quantile_of(const double *sorted, size_t nr, double share);

/* Length of the sliding window, in looks. A window ends at every look. */
#define PERCENTILE_LOOKS 10

struct percentile_look {
	uint64_t ns;
	uint64_t values; /* how many there were up to now */
	uint64_t high;	 /* how many of them were the limit or above */
};

struct percentile_watch {
	uint32_t above_ppm; /* the share of values above the percentile: 10000 for p99 */
	struct percentile_look looks[PERCENTILE_LOOKS];
	size_t nr; /* looks so far */
};

/*
 * The first look begins the first window. The percentile is the nearest rank: the smallest value with
 * that share of all values at or below it. It reaches the limit if more than the rest of the values are
 * high, and it exists if the rest is one value at least: 100 values for p99. @ret_window has the
 * differences since the window began; it is untouched if the result is false.
 */
bool percentile_watch_look(struct percentile_watch *watch, const struct percentile_look *now,
			   struct percentile_look *ret_window);

#endif
