/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics of crit beyond kmod/tracerbench/stats.h: means of batches, spreads, comparisons. */
#ifndef SUBTICK_STATS_CRIT_H
#define SUBTICK_STATS_CRIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Mean of the middle half of the values. Interrupts are in the upper quarter and do not affect this
 * mean. The resolution of the mean is finer than the clock's step; the resolution of a median is
 * not. Sorts @values. NaN if @nr is 0.
 */
double crit_midmean(uint64_t *values, size_t nr);

/* Spread of one figure over several rounds. */
struct crit_spread {
	double low;
	double mid; /* median of the rounds */
	double high;
	unsigned int rounds; /* number of rounds, or 0 if unavailable; all figures are then NaN */
};

/* Computes the spread of @values and sorts @values. NaNs are ignored. */
struct crit_spread crit_spread_of(double *values, size_t nr);

struct crit_difference {
	double value; /* b - a */
	double low;   /* the smallest and the largest difference of any two rounds */
	double high;
	bool exceeds; /* the ranges of the rounds do not overlap */
};

/* Computes the difference of two spreads. -ENODATA if @a or @b has no rounds. */
int crit_differ(const struct crit_spread *a, const struct crit_spread *b,
		struct crit_difference *ret_difference);

#endif
