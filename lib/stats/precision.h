/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which window tick-accounted CPU usage needs for a wanted precision. */
#ifndef SUBTICK_STATS_PRECISION_H
#define SUBTICK_STATS_PRECISION_H

#include <stddef.h>
#include <stdint.h>

struct precision {
	/* One step of the figures, 1/USER_HZ or the tick if that is longer, is @want of it. */
	uint64_t rounding_ns;
	/*
	 * Each tick is one look at whether the core is busy. For a load that keeps no step with it,
	 * 95 % of windows of this length are within @want of the truth at half load, the worst.
	 * For a load that does keep step no window is long enough.
	 */
	uint64_t sampling_ns;
};

/* @want 0…1, above 0. */
void precision_rule(double want, unsigned int user_hz, unsigned int hz,
		    struct precision *ret_precision);

/* An error that was measured at a window. */
struct precision_point {
	uint64_t window_ns;
	double error;
};

/*
 * The shortest of the windows from which on no measured error exceeds @want; 0 for none.
 * Points ascend by window.
 */
uint64_t precision_measured(double want, const struct precision_point *points, size_t nr);

#endif
