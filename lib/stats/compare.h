/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paired and unpaired comparisons of two conditions. */
#ifndef SUBTICK_STATS_COMPARE_H
#define SUBTICK_STATS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "stats/quantile.h"

/* The exact permutation test visits 2^(pairs - 1) sign patterns. */
#define PAIRED_MAX 24
/* With fewer pairs no permutation reaches 5 %: 2 / 2^5 is 6.3 %. */
#define PAIRED_MIN 6

/* Ratios are changed ÷ original - 1: -0.6 is 60 % less. NAN: unknown, fewer than two pairs. */
struct paired {
	unsigned int nr;	  /* pairs that count: both values are positive */
	double original, changed; /* geometric means */
	double ratio, low, high;  /* their ratio, and its interval */
	double p;		  /* exact, two-sided; NAN without @permute */
	/* An effect of this size would have been found in 95 of 100 experiments. */
	double detectable;
	/* At least PAIRED_MIN pairs, an interval without 0, and p up to 5 % if known. */
	bool found;
};

/*
 * Compares @nr pairs {original, changed}, at most PAIRED_MAX, with an interval of @confidence, such
 * as 0.95. Pairs with a value that is not positive and finite do not count.
 */
void paired_compare(const double (*pairs)[2], size_t nr, double confidence, bool permute,
		    struct paired *ret_paired);

/* P(|T| < @t) of Student's distribution with @df degrees of freedom. */
double student_within(double t, unsigned int df);
/* Inverse of student_within(): the t of @confidence, from 0 to below 1. */
double student_quantile(double confidence, unsigned int df);

/* With fewer windows on a side nothing is called changed. */
#define UNPAIRED_MIN 3
/* Same for ranges: two ranges of 5 equal rounds are disjoint by chance in 0.8 % of cases. */
#define UNPAIRED_MIN_ROUNDS 5

/* Ratios are after ÷ before - 1: -0.6 is 60 % less. NAN: unknown. */
struct unpaired {
	double ratio;	  /* unknown if a mean is missing or not positive */
	double low, high; /* interval of @ratio; unknown with one window on a side */
	/*
	 * At least UNPAIRED_MIN windows on both sides, and an interval without 0; or 0 in every window
	 * of one side and positive in every window of the other.
	 */
	bool changed;
};

/*
 * Compares independent windows. The interval is Welch's on the logarithm of the ratio of the means,
 * with standard errors by the delta method. @confidence is such as 0.95.
 */
struct unpaired unpaired_compare(const struct moments *before, const struct moments *after,
				 double confidence);
/*
 * Compares ranges of rounds, of which only count, mean, min and max are known. The interval has the
 * smallest and the largest ratio of two rounds. Changed: the ranges are disjoint and both have
 * UNPAIRED_MIN_ROUNDS or more.
 */
struct unpaired unpaired_ranges(const struct moments *before, const struct moments *after);

#endif
