/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The threshold from which on all views call a load figure wrong. */
#ifndef SUBTICK_REPORT_LOAD_WRONG_H
#define SUBTICK_REPORT_LOAD_WRONG_H

#include <math.h>
#include <stdbool.h>

/*
 * 5 percentage points. The live page gets it with the figures. The rules in packaging/ repeat it,
 * and ./check fleet compares them.
 */
#define LOAD_WRONG_RATIO 0.05

/* False if one of the two is unknown (NaN). */
static inline bool load_is_wrong(double shown_ratio, double true_ratio)
{
	return fabs(shown_ratio - true_ratio) > LOAD_WRONG_RATIO;
}

#endif
