/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Histograms with any bucket boundaries: sums, differences and percentiles. */
#ifndef SUBTICK_STATS_HIST_H
#define SUBTICK_STATS_HIST_H

#include <stdint.h>

#include "abi/hist.h"

/* Bucket of a value on the log-linear scale; equal to hist_bucket() of bpf/hist.bpf.h. */
unsigned int hist_index(uint64_t value);
/* hist_low() is the smallest value of bucket @index, hist_high() of bucket @index + 1. */
uint64_t hist_low(unsigned int index);
uint64_t hist_high(unsigned int index);

/* Bucket boundaries of a histogram. */
struct hist_scale {
	unsigned int nr; /* number of buckets */
	/*
	 * inclusive upper bounds of all buckets except the last, which is unbounded; NULL for the
	 * log-linear scale
	 */
	const uint64_t *le;
	/* Log-linear scale: a bucket combines 1 << shift adjacent buckets of abi/hist.h. */
	unsigned int shift;
};

extern const struct hist_scale hist_fine;

/* Number and count of one bucket. 52 bits suffice for a million values per second for 142 years. */
struct hist_entry {
	uint64_t bucket : 12;
	uint64_t count : 52;
};

/*
 * Sparse histogram: only nonempty buckets, in ascending order. A zeroed struct is an empty
 * histogram. Bucket numbers of hist_scale.nr and above are extra counters of the caller. Functions
 * with a parameter `scale` ignore the extra counters.
 */
struct hist {
	struct hist_entry *entries;
	uint32_t nr;
};

/* Appends a bucket unless its count is 0. hist->entries must have room for one more entry. */
static inline void hist_push(struct hist *hist, unsigned int bucket, uint64_t count)
{
	if (count)
		hist->entries[hist->nr++] = (struct hist_entry){.bucket = bucket, .count = count};
}

/*
 * hist_set() copies @from to @hist. hist_add() adds @more to @hist. The result is 0, or -ENOMEM
 * with @hist unchanged. The caller frees hist->entries with free().
 */
int hist_set(struct hist *hist, const struct hist *from);
int hist_add(struct hist *hist, const struct hist *more);
/*
 * Computes the difference @now - @was of two snapshots of cumulative counts. @ret must have room
 * for @now->nr entries.
 */
void hist_sub(const struct hist *now, const struct hist *was, struct hist *ret);

/* Number of values in the buckets of the scale. */
uint64_t hist_values(const struct hist_scale *scale, const struct hist *hist);
/* Returns @max or the lower bound of the highest nonempty bucket, whichever is larger. */
uint64_t hist_max(const struct hist_scale *scale, const struct hist *hist, uint64_t max);
/*
 * Percentile of a histogram, interpolated within its bucket and limited to @max, which is a result
 * of hist_max(). Returns -1.0 if the histogram is empty. The error is at most 3.125 % on the
 * log-linear scale, and at most the width of the bucket on other scales.
 */
double hist_value_at(const struct hist_scale *scale, const struct hist *hist, uint64_t max,
		     double percent);

/* Total of an array with one count per bucket of the log-linear scale. */
uint64_t hist_total(const uint64_t count[HIST_NR]);
double hist_percentile(const uint64_t count[HIST_NR], double percent);
/* Percentile of an array of HIST_NR >> @shift counts (see hist_scale.shift). */
double hist_percentile_coarse(const uint64_t *count, unsigned int shift, double percent);

/*
 * Buckets of a native histogram of Prometheus. With schema s, bucket i counts values above
 * 2^((i-1)/2^s) s up to 2^(i/2^s) s. The zero bucket counts values below the first bucket. The last
 * bucket counts all values above its lower bound.
 */
struct native_scale {
	int schema;
	int first; /* index of the first bucket; first - 1 is a multiple of 2^schema */
	unsigned int nr;
};

/*
 * Native scale for histograms with a few boundaries: powers of two from 2^-20 s (about 1 us) to 64
 * s. Boundaries are rounded down to ns, which changes no count, because values are whole ns.
 */
#define NATIVE_NR_LE 27
extern const struct native_scale native_coarse;
uint64_t native_le_ns(unsigned int i);

/*
 * Native scale for fine histograms: 8 buckets per power of two, from 2^-23 s (119 ns) to the end of
 * the fine scale. A fine bucket is added to the native bucket that contains its middle, so a value
 * within 1.6 % of a native bound may be counted in the adjacent native bucket.
 */
extern const struct native_scale native_fine;
#define NATIVE_FINE_WORDS 234 /* number of buckets, including the zero bucket */

/*
 * Adds a fine histogram to the zero bucket words[0] and to the native buckets words[1] and up.
 * Divides the counts by the sampling ratio @ratio. Rounds cumulative counts, so that rounding
 * errors of buckets do not add up.
 */
void native_fold(const struct hist *hist, double ratio, uint64_t words[NATIVE_FINE_WORDS]);

#endif
