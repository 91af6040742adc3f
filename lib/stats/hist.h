/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The log-linear histogram of abi/hist.h on the reading side: edges, percentiles, moments. */
#ifndef SUBTICK_STATS_HIST_H
#define SUBTICK_STATS_HIST_H

#include <stdint.h>

#include "abi/hist.h"

/* The bucket of a value; the same as hist_bucket() of bpf/hist.bpf.h. */
unsigned int hist_index(uint64_t value);
/* Smallest value of bucket @index, and smallest of the next one. */
uint64_t hist_low(unsigned int index);
uint64_t hist_high(unsigned int index);

uint64_t hist_total(const uint64_t count[HIST_NR]);
/*
 * The value below which @percent (0…100) of the counts lie, linear inside its bucket. At most
 * 3.125 % above or below the exact one. -1.0 when the histogram is empty.
 */
double hist_percentile(const uint64_t count[HIST_NR], double percent);

/*
 * The same rule on any buckets: @edge[i] is the upper edge of bucket i, whose lower edge is
 * edge[i-1] (0 for the first); counts are per bucket, not cumulative. What lies above the last
 * edge is @above; a percentile that falls there is the last edge.
 */
double buckets_percentile(const uint64_t *edge, const uint64_t *count, unsigned int nr,
			  uint64_t above, double percent);

#endif
