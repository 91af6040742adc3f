/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Difference between two sets of windows: ratio of the means, and its interval. */
#ifndef SUBTICK_STATS_UNPAIRED_H
#define SUBTICK_STATS_UNPAIRED_H

#include <stdbool.h>

#include "stats/moments.h"

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
