/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares two conditions, paired or unpaired, and computes ranges over rounds of measurement. */
#ifndef SUBTICK_STATS_COMPARE_H
#define SUBTICK_STATS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/quantile.h"

/* Maximum number of pairs. The exact permutation test visits 2^(pairs - 1) sign patterns. */
#define PAIRED_MAX 24
/* Minimum number of pairs. With 5 pairs the smallest possible p is 2 / 2^5 = 6.3 %. */
#define PAIRED_MIN 6

/*
 * Result of a paired comparison. A ratio is changed ÷ original - 1: -0.6 means 60 % less. With
 * fewer than two pairs, all ratios are NAN.
 */
struct paired {
	unsigned int nr; /* number of valid pairs; both values of a valid pair are positive */
	/* geometric means of the original values and of the changed values */
	double original, changed;
	double ratio, low, high;  /* changed ÷ original - 1, and its confidence interval */
	double p;		  /* exact two-sided p-value, or NAN if not requested */
	/* smallest effect that 95 of 100 experiments with the same number of pairs would detect */
	double detectable;
	/*
	 * true if the effect is significant: at least PAIRED_MIN pairs, a confidence interval that
	 * excludes 0, and a p-value of at most 5 % if known
	 */
	bool found;
};

/*
 * Compares @nr pairs {original, changed}, at most PAIRED_MAX. @confidence is the level of the
 * interval, such as 0.95. Ignores a pair if a value is not positive and finite.
 */
void paired_compare(const double (*pairs)[2], size_t nr, double confidence, bool permute,
		    struct paired *ret_paired);

/* Probability that |T| < @t in Student's distribution with @df degrees of freedom. */
double student_within(double t, unsigned int df);
/* Inverse of student_within(). @confidence is at least 0 and below 1. */
double student_quantile(double confidence, unsigned int df);

/* Minimum number of windows in each of the two sets for a significant change. */
#define UNPAIRED_MIN 3
/*
 * Minimum number of rounds in each of the two sets for a significant result of unpaired_ranges().
 * The ranges of two sets of 5 rounds of the same distribution are disjoint in 0.8 % of cases.
 */
#define UNPAIRED_MIN_ROUNDS 5

/*
 * Result of an unpaired comparison. A ratio is after ÷ before - 1: -0.6 means 60 % less. An unknown
 * ratio is NAN.
 */
struct unpaired {
	/* after ÷ before - 1 of the means; NAN if a mean is missing or not positive */
	double ratio;
	/* confidence interval of @ratio, or NAN if one of the two sets has only one window */
	double low, high;
	/*
	 * True if the change is significant and both sets have at least UNPAIRED_MIN windows. A
	 * change is significant if the confidence interval excludes 0, or if one set has only zeros
	 * and the other set has only positive values.
	 */
	bool changed;
};

/*
 * Compares independent windows by Welch's confidence interval for the logarithm of the ratio of the
 * means. The standard errors are computed by the delta method.
 */
struct unpaired unpaired_compare(const struct moments *before, const struct moments *after,
				 double confidence);
/*
 * Compares the ranges (minimum to maximum) of two sets of rounds. For each pair of a round before
 * and a round after the change, after ÷ before - 1 is between `low` and `high`. The change is
 * significant if the ranges are disjoint and both sets have at least UNPAIRED_MIN_ROUNDS rounds.
 */
struct unpaired unpaired_ranges(const struct moments *before, const struct moments *after);

/*
 * Mean of the middle half of the values. Excludes the upper quarter, which contains values that an
 * interrupt lengthened. A mean has a finer resolution than the clock, unlike a median. Sorts
 * @values. Returns NaN if @nr is 0.
 */
double crit_midmean(uint64_t *values, size_t nr);

/* Minimum, median and maximum of one result over several rounds of a measurement. */
struct crit_spread {
	double low;
	double mid; /* median over all rounds */
	double high;
	unsigned int rounds; /* number of rounds; with 0 rounds all other members are NaN */
};

/* Computes minimum, median and maximum of @values. Sorts @values and ignores NaNs. */
struct crit_spread crit_spread_of(double *values, size_t nr);

struct crit_difference {
	double value; /* difference of the medians, b - a */
	/* lowest and highest difference between a round of @b and a round of @a (b - a) */
	double low;
	double high;
	bool exceeds; /* true if the ranges of @a and @b do not overlap */
};

/* Computes the difference @b - @a of two results. Returns -ENODATA if @a or @b has no rounds. */
int crit_differ(const struct crit_spread *a, const struct crit_spread *b,
		struct crit_difference *ret_difference);

#endif
