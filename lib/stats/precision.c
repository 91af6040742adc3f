/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rounding rule, the sampling rule, and what was seen. */
#include "stats/precision.h"

#include <math.h>

/* Two-sided 95 % of a normal distribution. */
#define SIGMAS_95 1.959964

void precision_rule(double want, unsigned int user_hz, unsigned int hz,
		    struct precision *ret_precision)
{
	double step_ns = 1e9 / (double)(user_hz < hz ? user_hz : hz);
	double looks = SIGMAS_95 * SIGMAS_95 * 0.25 / (want * want);

	/* A wanted 0.1 % is not a binary number: 10 s must not become 10.000000001. */
	ret_precision->rounding_ns = (uint64_t)llround(step_ns / want);
	ret_precision->sampling_ns = (uint64_t)llround(looks * 1e9 / (double)hz);
}

uint64_t precision_measured(double want, const struct precision_point *points, size_t nr)
{
	uint64_t window_ns = 0;

	for (size_t i = nr; i-- > 0;) {
		/* A window that luck made good below one that is not proves nothing. */
		if (!(points[i].error <= want))
			break;
		window_ns = points[i].window_ns;
	}
	return window_ns;
}
