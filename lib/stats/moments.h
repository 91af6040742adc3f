/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Count, mean, spread and extremes of a stream of numbers in one pass. */
#ifndef SUBTICK_STATS_MOMENTS_H
#define SUBTICK_STATS_MOMENTS_H

#include <stdint.h>

/* Welford's update: no catastrophic cancellation for large, close values such as stamps. */
struct moments {
	uint64_t count;
	double mean;
	double m2;
	double min;
	double max;
};

void moments_add(struct moments *moments, double value);
/* Of the sample (n - 1); 0 below two values. */
double moments_stddev(const struct moments *moments);

#endif
