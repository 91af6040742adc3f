/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Histograms with any bucket boundaries: sums, differences and percentiles. */
#ifndef SUBTICK_STATS_HIST_H
#define SUBTICK_STATS_HIST_H

#include <stdint.h>

#include "abi/hist.h"

/* Bucket of a value on the log-linear scale; equal to hist_bucket() of bpf/hist.bpf.h. */
unsigned int hist_index(uint64_t value);
/* Smallest value of bucket @index, and of the next bucket. */
uint64_t hist_low(unsigned int index);
uint64_t hist_high(unsigned int index);

/* Bucket boundaries of a histogram. */
struct hist_scale {
	unsigned int nr; /* number of buckets */
	/* inclusive upper bounds of all buckets but the last; NULL for the log-linear scale */
	const uint64_t *le;
	/* Log-linear scale: a bucket combines 1 << shift adjacent buckets of abi/hist.h. */
	unsigned int shift;
};

extern const struct hist_scale hist_fine;

/* Number and count of one bucket; 52 bits count a million values per second for 142 years. */
struct hist_entry {
	uint64_t bucket : 12;
	uint64_t count : 52;
};

/*
 * Sparse histogram: only nonempty buckets, in ascending order. A zeroed struct is empty. Buckets
 * from hist_scale.nr on are extra counters of the caller, which functions with a `scale` ignore.
 */
struct hist {
	struct hist_entry *entries;
	uint32_t nr;
};

/* Appends a bucket unless its count is 0. The array hist->entries must have space. */
static inline void hist_push(struct hist *hist, unsigned int bucket, uint64_t count)
{
	if (count)
		hist->entries[hist->nr++] = (struct hist_entry){.bucket = bucket, .count = count};
}

/*
 * Copy @from to @hist, and add @more to @hist. Return 0, or -ENOMEM with @hist unchanged. The
 * caller frees hist->entries.
 */
int hist_set(struct hist *hist, const struct hist *from);
int hist_add(struct hist *hist, const struct hist *more);
/* Difference of two snapshots of cumulative counts. @ret must have room for @now->nr entries. */
void hist_sub(const struct hist *now, const struct hist *was, struct hist *ret);

/* Number of values in the buckets of the scale. */
uint64_t hist_values(const struct hist_scale *scale, const struct hist *hist);
/* Returns @max or the lower bound of the highest nonempty bucket, whichever is larger. */
uint64_t hist_max(const struct hist_scale *scale, const struct hist *hist, uint64_t max);
/*
 * Percentile, interpolated within its bucket and limited to @max, a result of hist_max(); -1.0 if
 * empty. Its error is at most 3.125 % on the log-linear scale, else the width of the bucket.
 */
double hist_value_at(const struct hist_scale *scale, const struct hist *hist, uint64_t max,
		     double percent);

/* Total of an array with one count per bucket of the log-linear scale. */
uint64_t hist_total(const uint64_t count[HIST_NR]);
double hist_percentile(const uint64_t count[HIST_NR], double percent);
/* Percentile of an array of HIST_NR >> @shift counts (see hist_scale.shift). */
double hist_percentile_coarse(const uint64_t *count, unsigned int shift, double percent);

/*
 * Buckets of a native histogram of Prometheus: with schema s, bucket i counts values above
 * 2^((i-1)/2^s) s up to 2^(i/2^s) s. The zero bucket counts values below the first bucket, the last
 * bucket all values above its lower bound.
 */
struct native_scale {
	int schema;
	int first; /* index of the first bucket; first - 1 is a multiple of 2^schema */
	unsigned int nr;
};

/*
 * Native scale for few boundaries: powers of two from 2^-20 s (about 1 us) to 64 s, rounded down to
 * ns, which changes no count of whole ns.
 */
#define NATIVE_NR_LE 27
extern const struct native_scale native_coarse;
uint64_t native_le_ns(unsigned int i);

/*
 * Native scale for fine histograms: 8 buckets per power of two, from 2^-23 s (119 ns) on. A fine
 * bucket is added to the native bucket of its middle: values within 1.6 % of a native bound may be
 * counted in the adjacent bucket.
 */
extern const struct native_scale native_fine;
#define NATIVE_FINE_WORDS 234 /* number of buckets, including the zero bucket */

/*
 * Adds a fine histogram to the zero bucket words[0] and the native buckets words[1] and up, divided
 * by the sampling ratio. Rounds cumulative counts, so that rounding errors do not add up.
 */
void native_fold(const struct hist *hist, double ratio, uint64_t words[NATIVE_FINE_WORDS]);

#endif
