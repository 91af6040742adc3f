/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paired and unpaired comparisons of two conditions, and the spreads of crit. */
#ifndef SUBTICK_STATS_COMPARE_H
#define SUBTICK_STATS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/quantile.h"

/* The exact permutation test visits 2^(pairs - 1) sign patterns. */
#define PAIRED_MAX 24
/* Minimum number of pairs. With 5 pairs the smallest possible p is 2 / 2^5 = 6.3 %. */
#define PAIRED_MIN 6

/* Ratios are changed ÷ original - 1: -0.6 is 60 % less. NAN with fewer than two pairs. */
struct paired {
	unsigned int nr;	  /* number of valid pairs, with two positive values */
	double original, changed; /* geometric means */
	double ratio, low, high;  /* ratio of the means, and its confidence interval */
	double p;		  /* exact two-sided p-value, or NAN without @permute */
	/* Size of an effect that 95 of 100 experiments would find. */
	double detectable;
	/*
	 * True with at least PAIRED_MIN pairs, an interval that excludes 0, and p of at most 5 % if
	 * known.
	 */
	bool found;
};

/*
 * Compares @nr pairs {original, changed}, at most PAIRED_MAX. @confidence is the level of the
 * interval, such as 0.95. Pairs with a value that is not positive and finite are ignored.
 */
void paired_compare(const double (*pairs)[2], size_t nr, double confidence, bool permute,
		    struct paired *ret_paired);

/* P(|T| < @t) of Student's distribution with @df degrees of freedom. */
double student_within(double t, unsigned int df);
/* Inverse of student_within(): the t of @confidence, from 0 to below 1. */
double student_quantile(double confidence, unsigned int df);

/* Minimum number of windows per side for a change. */
#define UNPAIRED_MIN 3
/*
 * Minimum number of rounds per side for unpaired_ranges(): two ranges of 5 equal rounds are
 * disjoint by chance in 0.8 % of cases.
 */
#define UNPAIRED_MIN_ROUNDS 5

/* Ratios are after ÷ before - 1: -0.6 is 60 % less. NAN if unknown. */
struct unpaired {
	double ratio;	  /* NAN if a mean is missing or not positive */
	double low, high; /* confidence interval of @ratio, or NAN with one window on a side */
	/*
	 * True with at least UNPAIRED_MIN windows on both sides and an interval that excludes 0.
	 * Also true if all windows of one side are 0 and all windows of the other side are
	 * positive.
	 */
	bool changed;
};

/*
 * Compares independent windows. The interval is Welch's on the logarithm of the ratio of the means,
 * with standard errors by the delta method. @confidence is the level of the interval, such as 0.95.
 */
struct unpaired unpaired_compare(const struct moments *before, const struct moments *after,
				 double confidence);
/*
 * Compares two sets of rounds by count, mean, min and max. The interval is the smallest and the
 * largest ratio of two rounds. @changed is true if the ranges are disjoint and both sets have at
 * least UNPAIRED_MIN_ROUNDS rounds.
 */
struct unpaired unpaired_ranges(const struct moments *before, const struct moments *after);

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
