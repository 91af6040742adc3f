/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When a figure of a core's load is called wrong: one threshold for every view. */
#ifndef SUBTICK_REPORT_LOAD_WRONG_H
#define SUBTICK_REPORT_LOAD_WRONG_H

#include <math.h>
#include <stdbool.h>

/*
 * 5 points of load. The live page is handed it with the figures; the rules in packaging/ repeat it,
 * and ./check fleet compares them.
 */
#define LOAD_WRONG_RATIO 0.05

/* False where one of the two is not known (NaN). */
static inline bool load_is_wrong(double shown_ratio, double true_ratio)
{
	return fabs(shown_ratio - true_ratio) > LOAD_WRONG_RATIO;
}

#endif
