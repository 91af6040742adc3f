/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Means of batches, spreads and comparisons of crit. */
#include "stats/crit.h"

#include <errno.h>
#include <math.h>

#include "kmod/tracerbench/stats.h"
#include "stats/quantile.h"

double crit_midmean(uint64_t *values, size_t nr)
{
	size_t skip = nr / 4;
	double sum = 0;

	if (!nr)
		return NAN;
	tb_sort_descending(values, nr);
	for (size_t i = skip; i < nr - skip; i++)
		sum += (double)values[i];
	return sum / (double)(nr - 2 * skip);
}

struct crit_spread crit_spread_of(double *values, size_t nr)
{
	size_t known = 0;

	for (size_t i = 0; i < nr; i++)
		if (!isnan(values[i]))
			values[known++] = values[i];
	if (!known)
		return (struct crit_spread){.low = NAN, .mid = NAN, .high = NAN};
	quantile_sort(values, known);
	return (struct crit_spread){
		.low = values[0],
		.mid = quantile_of(values, known, 0.5),
		.high = values[known - 1],
		.rounds = known,
	};
}

int crit_differ(const struct crit_spread *a, const struct crit_spread *b,
		struct crit_difference *ret_difference)
{
	if (!a->rounds || !b->rounds)
		return -ENODATA;
	*ret_difference = (struct crit_difference){
		.value = b->mid - a->mid,
		.low = b->low - a->high,
		.high = b->high - a->low,
		.exceeds = b->low > a->high || b->high < a->low,
	};
	return 0;
}
