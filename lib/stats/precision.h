/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How long a window must be for a wanted precision of tick-accounted CPU usage. */
#ifndef SUBTICK_STATS_PRECISION_H
#define SUBTICK_STATS_PRECISION_H

#include <stddef.h>
#include <stdint.h>

struct precision {
	/* In this window one step of the figures (1/USER_HZ, or the tick if longer) is @want. */
	uint64_t rounding_ns;
	/*
	 * Each tick is one sample of whether the core is busy. For a load that is not synchronous
	 * with the tick, 95 % of windows of this length are within @want of the truth at half load,
	 * which is the worst case. For a synchronous load no window is long enough.
	 */
	uint64_t sampling_ns;
};

/* @want 0…1, above 0. */
void precision_rule(double want, unsigned int user_hz, unsigned int hz,
		    struct precision *ret_precision);

/* Points with fewer windows are not used. */
#define PRECISION_MIN_WINDOWS 5

/* The errors measured in windows of one length. */
struct precision_point {
	uint64_t window_ns;
	double rms_error;
	double windows; /* number of windows that do not overlap */
};

/*
 * The window length from which on 95 % of errors are within @want, estimated from shorter windows.
 * 0 if no window is long enough, or if the points are too few. @bias is the error over all of
 * @total_ns.
 *
 * The error in seconds is a random walk: one step per tick, plus the rounding at both ends. So its
 * variance is rate × window + rounding. Both terms are fitted to short windows, of which there are
 * many; the error of a single long window would be random. If the error over all of the time is
 * larger than the walk explains, it is systematic and does not shrink with the window.
 */
uint64_t precision_estimate(double want, const struct precision_point *points, size_t nr,
			    double bias, uint64_t total_ns);

#endif
