/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Histograms whose boundaries are data: sums, differences, percentiles. */
#ifndef SUBTICK_STATS_HIST_H
#define SUBTICK_STATS_HIST_H

#include <stdint.h>

#include "abi/hist.h"

/* Bucket of a value on the log-linear scale; equal to hist_bucket() of bpf/hist.bpf.h. */
unsigned int hist_index(uint64_t value);
/* Smallest value of bucket @index, and smallest value of the bucket after it. */
uint64_t hist_low(unsigned int index);
uint64_t hist_high(unsigned int index);

/* Boundaries of buckets. */
struct hist_scale {
	unsigned int nr; /* buckets */
	/* Inclusive upper bounds of all buckets but the last, which is open. NULL: log-linear. */
	const uint64_t *le;
	unsigned int shift; /* log-linear: a bucket is 1 << shift neighbours of abi/hist.h */
};

extern const struct hist_scale hist_fine;

/* 52 bits count a million values per second for 142 years. */
struct hist_entry {
	uint64_t bucket : 12;
	uint64_t count : 52;
};

/*
 * Sparse: only buckets with values, ascending. All zeros is an empty histogram. Buckets from
 * hist_scale.nr on are counters of the owner, which functions with a scale leave out.
 */
struct hist {
	struct hist_entry *entries;
	uint32_t nr;
};

/* Appends a bucket if it has values. The caller has room for another entry. */
static inline void hist_push(struct hist *hist, unsigned int bucket, uint64_t count)
{
	if (count)
		hist->entries[hist->nr++] = (struct hist_entry){.bucket = bucket, .count = count};
}

/* Both allocate; -ENOMEM leaves @hist as it was. Free the entries with free(). */
int hist_set(struct hist *hist, const struct hist *from);
int hist_add(struct hist *hist, const struct hist *more);
/* Growth from @was to @now; counts never fall. @ret has room for @now->nr entries. */
void hist_sub(const struct hist *now, const struct hist *was, struct hist *ret);

/* Number of values. */
uint64_t hist_values(const struct hist_scale *scale, const struct hist *hist);
/* The larger of @max and the smallest value of the highest bucket with values. */
uint64_t hist_max(const struct hist_scale *scale, const struct hist *hist, uint64_t max);
/*
 * The value below which @percent (0…100) of all values lie, interpolated in its bucket and at most
 * @max, which is hist_max(). -1.0 if the histogram is empty. On the log-linear scale it is at most
 * 3.125 % above or below the exact value, else off by the width of its bucket.
 */
double hist_value_at(const struct hist_scale *scale, const struct hist *hist, uint64_t max,
		     double percent);

/* Arrays with a count for each bucket of the log-linear scale. */
uint64_t hist_total(const uint64_t count[HIST_NR]);
double hist_percentile(const uint64_t count[HIST_NR], double percent);
/* @count has HIST_NR >> @shift counts. */
double hist_percentile_coarse(const uint64_t *count, unsigned int shift, double percent);

/*
 * With schema s, bucket i has the values above 2^((i-1)/2^s) and up to 2^(i/2^s) seconds. Values
 * below the first bucket are in the zero bucket. The last bucket also has all larger values.
 */
struct native_scale {
	int schema;
	int first; /* first - 1 is a multiple of 2^schema: the zero bucket ends at a power of two */
	unsigned int nr;
};

/*
 * Where waits are counted at boundaries only: powers of two from 2^-20 s, about 1 us, to 64 s. The
 * boundaries are its edges rounded down to nanoseconds. Waits are whole nanoseconds, so every count
 * is exact.
 */
#define NATIVE_NR_LE 27
extern const struct native_scale native_coarse;
uint64_t native_le_ns(unsigned int i);

/*
 * Where there is a fine histogram: 8 buckets per power of two, from 2^-23 s, 119 ns, to its end.
 * Edges of fine and native buckets do not coincide: a fine bucket goes as a whole to the native
 * bucket that holds its middle. A value within 1.6 % of a native edge may be counted on the other
 * side of it.
 */
extern const struct native_scale native_fine;
#define NATIVE_FINE_WORDS 234 /* the zero bucket and the others */

/*
 * Adds a fine histogram to the zero bucket words[0] and the buckets words[1…] of native_fine. Counts
 * of a sample are divided by its @ratio; their sum is the scaled total, rounded once.
 */
void native_fold(const struct hist *hist, double ratio, uint64_t words[NATIVE_FINE_WORDS]);

#endif
