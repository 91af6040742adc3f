/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moments, quantiles, and percentiles over sliding windows. */
#include "stats/quantile.h"

#include <math.h>
#include <stdlib.h>

void moments_add(struct moments *m, double value)
{
	double delta = value - m->mean;

	m->count++;
	m->mean += delta / (double)m->count;
	m->m2 += delta * (value - m->mean);
	if (m->count == 1 || value < m->min)
		m->min = value;
	if (m->count == 1 || value > m->max)
		m->max = value;
}

double moments_stddev(const struct moments *m)
{
	return m->count < 2 ? 0.0 : sqrt(m->m2 / (double)(m->count - 1));
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

void quantile_sort(double *values, size_t nr)
{
	if (nr)
		qsort(values, nr, sizeof(*values), compare);
}

double quantile_of(const double *sorted, size_t nr, double share)
{
	double rank;
	size_t below;

	if (!nr)
		return NAN;
	rank = share * (double)(nr - 1);
	if (!(rank > 0.0))
		return sorted[0];
	below = (size_t)rank;
	if (below + 1 >= nr)
		return sorted[nr - 1];
	return sorted[below] + (sorted[below + 1] - sorted[below]) * (rank - (double)below);
}

#define MILLION 1000000ULL

bool percentile_watch_look(struct percentile_watch *watch, const struct percentile_look *now,
			   struct percentile_look *ret_window)
{
	size_t oldest = watch->nr >= PERCENTILE_LOOKS ? watch->nr % PERCENTILE_LOOKS : 0;
	struct percentile_look window = {
		.ns = now->ns - watch->looks[oldest].ns,
		.values = now->values - watch->looks[oldest].values,
		.high = now->high - watch->looks[oldest].high,
	};
	bool first = !watch->nr;

	watch->looks[watch->nr++ % PERCENTILE_LOOKS] = *now;
	if (first || window.values * watch->above_ppm < MILLION ||
	    window.high * MILLION <= window.values * watch->above_ppm)
		return false;
	*ret_window = window;
	return true;
}
