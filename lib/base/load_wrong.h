/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Error from which every view calls a load figure wrong. */
#ifndef SUBTICK_BASE_LOAD_WRONG_H
#define SUBTICK_BASE_LOAD_WRONG_H

#include <math.h>
#include <stdbool.h>

/*
 * 5 percentage points. The live page receives it with the figures. packaging/ repeats it, and
 * ./check fleet compares the two.
 */
#define LOAD_WRONG_RATIO 0.05

/* False if one of the two is unknown (NaN). */
static inline bool load_is_wrong(double shown_ratio, double true_ratio)
{
	return fabs(shown_ratio - true_ratio) > LOAD_WRONG_RATIO;
}

#endif
