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

#endif
