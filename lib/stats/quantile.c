/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sorts, and interpolates between ranks. */
#include "stats/quantile.h"

#include <math.h>
#include <stdlib.h>

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
