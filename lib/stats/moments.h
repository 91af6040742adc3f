/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Count, mean, spread and extremes of a stream of numbers in one pass. */
#ifndef SUBTICK_STATS_MOMENTS_H
#define SUBTICK_STATS_MOMENTS_H

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

#endif
