/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What user space adds to kmod/tracerbench/stats.h: means of batches, spreads, comparisons. */
#ifndef SUBTICK_STATS_CRIT_H
#define SUBTICK_STATS_CRIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The mean of the middle half (rounded up to at least one value): interrupts in the upper
 * quarter do not move it, and unlike a median it is finer than the clock's step. Sorts @values;
 * NaN for none.
 */
double crit_midmean(uint64_t *values, size_t nr);

/* The same figure of several rounds: how far it repeats is how far it can be trusted. */
struct crit_spread {
	double low;
	double mid; /* median of the rounds */
	double high;
	unsigned int rounds; /* 0: unavailable, the rest is NaN */
};

/* Sorts @values; NaNs among them do not count. */
struct crit_spread crit_spread_of(double *values, size_t nr);

struct crit_difference {
	double value; /* b - a */
	double low;   /* what the rounds allow at least and at most */
	double high;
	bool exceeds; /* no round of one is within the range of the other's rounds */
};

/* -ENODATA unless both have rounds. */
int crit_differ(const struct crit_spread *a, const struct crit_spread *b,
		struct crit_difference *ret_difference);

#endif
