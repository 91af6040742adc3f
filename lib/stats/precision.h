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

/* Points with fewer windows say too little. */
#define PRECISION_MIN_WINDOWS 5

/* What was measured in windows of one length. */
struct precision_point {
	uint64_t window_ns;
	double rms_error;
	double windows; /* that do not overlap */
};

/*
 * The window from which on 95 % of errors are within @want, estimated from shorter ones; 0: at
 * none, or not to be told from these points. @bias is the error over all of @total_ns.
 *
 * What the figure is off by, in seconds, is a walk: a step per look, and the rounding at both ends
 * once. So its variance is rate × window + rounding, and both follow from windows that are short
 * enough to be had often; a long one that was had once would only show its own luck. An error that
 * is larger over all of the time than such a walk explains stays, however long the window.
 */
uint64_t precision_estimate(double want, const struct precision_point *points, size_t nr,
			    double bias, uint64_t total_ns);

#endif
