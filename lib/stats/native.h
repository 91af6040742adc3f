/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buckets of Prometheus' native histograms, and conversion of our buckets to them. */
#ifndef SUBTICK_STATS_NATIVE_H
#define SUBTICK_STATS_NATIVE_H

#include <stdint.h>

#include "stats/hist.h"

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
