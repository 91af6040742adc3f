/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Evaluates the log-linear histogram of abi/hist.h: bucket edges, percentiles, moments. */
#ifndef SUBTICK_STATS_HIST_H
#define SUBTICK_STATS_HIST_H

#include <stdint.h>

#include "abi/hist.h"

/* The bucket of a value; the same as hist_bucket() of bpf/hist.bpf.h. */
unsigned int hist_index(uint64_t value);
/* The smallest value of bucket @index, and the smallest value of the next one. */
uint64_t hist_low(unsigned int index);
uint64_t hist_high(unsigned int index);

uint64_t hist_total(const uint64_t count[HIST_NR]);
/*
 * The value below which @percent (0…100) of the counts lie, interpolated in its bucket. It is at
 * most 3.125 % above or below the exact value. -1.0 if the histogram is empty.
 */
double hist_percentile(const uint64_t count[HIST_NR], double percent);
/* The same of HIST_NR >> @shift counts, each of 1 << @shift neighbouring buckets. */
double hist_percentile_coarse(const uint64_t *count, unsigned int shift, double percent);

#endif
