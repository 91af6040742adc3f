/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds sparse histograms and computes their percentiles. */
#include "stats/hist.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

const struct hist_scale hist_fine = {.nr = HIST_NR};

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

int hist_set(struct hist *hist, const struct hist *from)
{
	struct hist_entry *entries = reallocarray(hist->entries, from->nr + 1, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	if (from->nr)
		memcpy(entries, from->entries, from->nr * sizeof(*entries));
	*hist = (struct hist){.entries = entries, .nr = from->nr};
	return 0;
}

int hist_add(struct hist *hist, const struct hist *more)
{
	const struct hist_entry *a = hist->entries, *b = more->entries;
	const struct hist_entry *a_end = a + hist->nr, *b_end = b + more->nr;
	struct hist sum = {0};

	if (!more->nr)
		return 0;
	sum.entries = malloc((hist->nr + more->nr) * sizeof(*a));
	if (!sum.entries)
		return -ENOMEM;
	while (a < a_end || b < b_end) {
		bool take_a = a < a_end && (b == b_end || a->bucket <= b->bucket);
		bool take_b = b < b_end && (a == a_end || b->bucket <= a->bucket);

		hist_push(&sum, take_a ? a->bucket : b->bucket,
			  (take_a ? a->count : 0) + (take_b ? b->count : 0));
		a += take_a;
		b += take_b;
	}
	free(hist->entries);
	*hist = sum;
	return 0;
}

void hist_sub(const struct hist *now, const struct hist *was, struct hist *ret)
{
	const struct hist_entry *old = was->entries, *end = old + was->nr;

	ret->nr = 0;
	array_for_each(entry, now->entries, now->nr) {
		bool had = old < end && old->bucket == entry->bucket;

		hist_push(ret, entry->bucket, entry->count - (had ? old->count : 0));
		old += had;
	}
}

/* Returns the number of entries that are buckets of @scale, not extra counters of the caller. */
static uint32_t entries_on(const struct hist_scale *scale, const struct hist *hist)
{
	uint32_t nr = hist->nr;

	while (nr && hist->entries[nr - 1].bucket >= scale->nr)
		nr--;
	return nr;
}

uint64_t hist_values(const struct hist_scale *scale, const struct hist *hist)
{
	uint64_t count = 0;

	array_for_each(entry, hist->entries, entries_on(scale, hist))
		count += entry->count;
	return count;
}

/* Returns the lower bound of a bucket, which is the upper bound of the previous bucket. */
static double edge(const struct hist_scale *scale, unsigned int bucket)
{
	if (!scale->le)
		return (double)hist_low(bucket << scale->shift);
	if (bucket == scale->nr)
		return INFINITY;
	return bucket ? (double)scale->le[bucket - 1] : 0.0;
}

uint64_t hist_max(const struct hist_scale *scale, const struct hist *hist, uint64_t max)
{
	uint32_t nr = entries_on(scale, hist);
	unsigned int top = nr ? hist->entries[nr - 1].bucket : 0;
	/* a value equal to an inclusive upper bound belongs to the bucket below the bound */
	uint64_t least = (uint64_t)edge(scale, top) + (scale->le && top);

	return max > least ? max : least;
}

double hist_value_at(const struct hist_scale *scale, const struct hist *hist, uint64_t max,
		     double percent)
{
	double rank = (double)hist_values(scale, hist) * fmin(fmax(percent, 0.0), 100.0) / 100.0;
	uint32_t nr = entries_on(scale, hist);
	double before = 0.0, low, high, count;

	for (uint32_t i = 0; i < nr; i++, before += count) {
		count = (double)hist->entries[i].count;
		/* a rounding error can make the rank larger than the count: use the last entry */
		if (rank > before + count && i + 1 < nr)
			continue;
		low = edge(scale, hist->entries[i].bucket);
		high = edge(scale, hist->entries[i].bucket + 1);
		/*
		 * With --le boundaries, the last bucket ends at the largest value. On the
		 * log-linear scale, a bucket that is 1 ns wide has only one value.
		 */
		if (scale->le)
			high = fmin(high, (double)max);
		else if (high - low == 1.0)
			high = low;
		return fmin(low + (high - low) * (rank - before) / count, (double)max);
	}
	return -1.0;
}

uint64_t hist_total(const uint64_t count[HIST_NR])
{
	uint64_t total = 0;

	array_for_each(bucket, count, HIST_NR)
		total += *bucket;
	return total;
}

double hist_percentile_coarse(const uint64_t *count, unsigned int shift, double percent)
{
	struct hist_scale scale = {.nr = HIST_NR >> shift, .shift = shift};
	struct hist_entry entries[HIST_NR];
	struct hist hist = {.entries = entries};

	for (unsigned int i = 0; i < scale.nr; i++)
		hist_push(&hist, i, count[i]);
	return hist_value_at(&scale, &hist, UINT64_MAX, percent);
}

double hist_percentile(const uint64_t count[HIST_NR], double percent)
{
	return hist_percentile_coarse(count, 0, percent);
}

#define COARSE_LOG2 (-20)
#define FINE_LOG2   (-23)
#define FINE_SCHEMA 3
#define SECOND_NS   1000000000ULL

const struct native_scale native_coarse = {
	.schema = 0,
	.first = COARSE_LOG2 + 1,
	.nr = NATIVE_NR_LE,
};

const struct native_scale native_fine = {
	.schema = FINE_SCHEMA,
	.first = FINE_LOG2 * (1 << FINE_SCHEMA) + 1,
	.nr = NATIVE_FINE_WORDS - 1,
};

uint64_t native_le_ns(unsigned int i)
{
	int log2 = COARSE_LOG2 + (int)i;

	return log2 < 0 ? SECOND_NS >> -log2 : SECOND_NS << log2;
}

/*
 * Index of the native bucket that contains the middle of a fine bucket. The middle never equals a
 * bound of a native bucket.
 */
static unsigned int fine_word(unsigned int bucket)
{
	double middle_ns = ((double)hist_low(bucket) + (double)(hist_high(bucket) - 1)) / 2.0;
	double word = ceil((log2(middle_ns / 1e9) - FINE_LOG2) * (1 << FINE_SCHEMA));

	return word > 0.0 ? (unsigned int)word : 0;
}

void native_fold(const struct hist *hist, double ratio, uint64_t words[NATIVE_FINE_WORDS])
{
	uint64_t total = 0, added = 0, until;

	array_for_each(entry, hist->entries, entries_on(&hist_fine, hist)) {
		total += entry->count;
		until = ratio < 1.0 ? (uint64_t)llround((double)total / ratio) : total;
		words[fine_word(entry->bucket)] += until - added;
		added = until;
	}
}
