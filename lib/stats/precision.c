/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Window lengths by the rounding rule, by the sampling rule, and from measured errors. */
#include "stats/precision.h"

#include <math.h>
#include <stdbool.h>

/* Two-sided 95 % of a normal distribution. */
#define SIGMAS_95 1.959964
#define SIGMAS_99 2.575829

void precision_rule(double want, unsigned int user_hz, unsigned int hz,
		    struct precision *ret_precision)
{
	double step_ns = 1e9 / (double)(user_hz < hz ? user_hz : hz);
	double samples = SIGMAS_95 * SIGMAS_95 * 0.25 / (want * want);

	/* Round: 0.1 % is not a binary number, and 10 s must not become 10.000000001 s. */
	ret_precision->rounding_ns = (uint64_t)llround(step_ns / want);
	ret_precision->sampling_ns = (uint64_t)llround(samples * 1e9 / (double)hz);
}

/* The variance of the error as a random walk, in s²: rate × window + rounding. */
struct walk {
	double rate, rounding;
};

/*
 * Least squares on (rms × window)². A variance from n windows has a relative standard error of
 * √(2/n), hence the weights. Neither part can be negative: if one comes out negative, it is 0 and
 * the other is fitted alone.
 */
static bool walk_fit(const struct precision_point *points, size_t nr, struct walk *ret_walk)
{
	double w0 = 0.0, wt = 0.0, wtt = 0.0, wy = 0.0, wty = 0.0, det;
	size_t used = 0;

	for (size_t i = 0; i < nr; i++) {
		double t = (double)points[i].window_ns / 1e9;
		double y = points[i].rms_error * points[i].rms_error * t * t, w;

		if (!(y > 0.0) || points[i].windows < PRECISION_MIN_WINDOWS)
			continue;
		w = points[i].windows / (y * y);
		w0 += w;
		wt += w * t;
		wtt += w * t * t;
		wy += w * y;
		wty += w * t * y;
		used++;
	}
	if (used < 2)
		return false;
	det = w0 * wtt - wt * wt;
	ret_walk->rate = (w0 * wty - wt * wy) / det;
	ret_walk->rounding = (wtt * wy - wt * wty) / det;
	if (ret_walk->rate < 0.0)
		*ret_walk = (struct walk){0.0, wy / w0};
	else if (ret_walk->rounding < 0.0)
		*ret_walk = (struct walk){wty / wtt, 0.0};
	return true;
}

uint64_t precision_estimate(double want, const struct precision_point *points, size_t nr,
			    double bias, uint64_t total_ns)
{
	double total = (double)total_ns / 1e9, z2 = SIGMAS_95 * SIGMAS_95, window;
	struct walk walk;

	if (!total_ns || !walk_fit(points, nr, &walk))
		return 0;
	/* A bias that a random walk would exceed in 1 % of cases only: it is systematic. */
	bias = fabs(bias);
	if (bias > SIGMAS_99 * sqrt(walk.rate / total + walk.rounding / (total * total)))
		want -= bias;
	if (want <= 0.0)
		return 0;
	window = (z2 * walk.rate +
		  sqrt(z2 * z2 * walk.rate * walk.rate + 4.0 * want * want * z2 * walk.rounding)) /
		 (2.0 * want * want);
	return (uint64_t)llround(window * 1e9);
}
