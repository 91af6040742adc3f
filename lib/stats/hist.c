/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Evaluates log-linear histograms. */
#include "stats/hist.h"

#include <stddef.h>

unsigned int hist_index(uint64_t value)
{
	unsigned int msb;

	if (value < HIST_SUB)
		return value;
	if (value > HIST_VALUE_MAX)
		value = HIST_VALUE_MAX;
	msb = 63 - __builtin_clzll(value);
	return (msb - HIST_SUB_BITS + 1) * HIST_SUB +
	       (value >> (msb - HIST_SUB_BITS) & (HIST_SUB - 1));
}

uint64_t hist_low(unsigned int index)
{
	unsigned int octave = index / HIST_SUB, sub = index % HIST_SUB;

	if (!octave)
		return sub;
	return (uint64_t)(HIST_SUB + sub) << (octave - 1);
}

uint64_t hist_high(unsigned int index)
{
	return hist_low(index + 1);
}

uint64_t hist_total(const uint64_t count[HIST_NR])
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < HIST_NR; i++)
		total += count[i];
	return total;
}

/*
 * The rank of the percentile among the sorted values, as a real number: 99 % of 10,000 is 9,900.0.
 * Integer division would lose the fraction.
 */
static double rank_of(uint64_t total, double percent)
{
	if (percent < 0.0)
		percent = 0.0;
	if (percent > 100.0)
		percent = 100.0;
	return (double)total * percent / 100.0;
}

static double inside(uint64_t low, uint64_t high, double rank, double before, uint64_t count)
{
	/* A bucket of one nanosecond: nothing to interpolate. */
	if (high - low == 1)
		return (double)low;
	return (double)low + (double)(high - low) * (rank - before) / (double)count;
}

double hist_percentile_coarse(const uint64_t *count, unsigned int shift, double percent)
{
	unsigned int nr = HIST_NR >> shift, last = nr;
	double rank, before = 0.0;
	uint64_t total = 0;

	for (unsigned int i = 0; i < nr; i++)
		total += count[i];
	rank = rank_of(total, percent);
	for (unsigned int i = 0; i < nr; i++) {
		if (!count[i])
			continue;
		last = i;
		if (before + (double)count[i] >= rank)
			return inside(hist_low(i << shift), hist_low((i + 1) << shift), rank,
				      before, count[i]);
		before += (double)count[i];
	}
	return last == nr ? -1.0 : (double)hist_low((last + 1) << shift);
}

double hist_percentile(const uint64_t count[HIST_NR], double percent)
{
	return hist_percentile_coarse(count, 0, percent);
}
