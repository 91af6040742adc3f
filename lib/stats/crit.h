/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics of crit beyond kmod/tracerbench/stats.h: means of batches, spreads, comparisons. */
#ifndef SUBTICK_STATS_CRIT_H
#define SUBTICK_STATS_CRIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The mean of the middle half, of at least one value. Interrupts are in the upper quarter and do
 * not affect it, and unlike a median it is finer than the clock's step. Sorts @values; NaN if
 * there are none.
 */
double crit_midmean(uint64_t *values, size_t nr);

/* The same figure of several rounds; the spread shows how well it repeats. */
struct crit_spread {
	double low;
	double mid; /* median of the rounds */
	double high;
	unsigned int rounds; /* 0: unavailable, the rest is NaN */
};

/* Sorts @values; NaNs are ignored. */
struct crit_spread crit_spread_of(double *values, size_t nr);

struct crit_difference {
	double value; /* b - a */
	double low;   /* the smallest and the largest difference of any two rounds */
	double high;
	bool exceeds; /* the ranges of the rounds do not overlap */
};

/* -ENODATA unless both have rounds. */
int crit_differ(const struct crit_spread *a, const struct crit_spread *b,
		struct crit_difference *ret_difference);

#endif
