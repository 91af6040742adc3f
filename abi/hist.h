/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Log-linear histogram, filled by BPF programs and read by lib/stats/hist.c. */
#ifndef SUBTICK_ABI_HIST_H
#define SUBTICK_ABI_HIST_H

/*
 * Every value below HIST_SUB has its own bucket. From HIST_SUB on, the range between two
 * consecutive powers of two has HIST_SUB buckets of equal width. The width of a bucket is at most
 * 1/HIST_SUB = 3.125 % of the bucket's lower bound. The bucket width limits the error of
 * percentiles.
 */
#define HIST_SUB_BITS	5
#define HIST_SUB	(1 << HIST_SUB_BITS)
/* number of bits of a value in ns (up to 68.7 s); the last bucket also counts all larger values */
#define HIST_VALUE_BITS 36
#define HIST_VALUE_MAX	((1ULL << HIST_VALUE_BITS) - 1)
#define HIST_NR		((HIST_VALUE_BITS - HIST_SUB_BITS + 1) * HIST_SUB)

_Static_assert(HIST_NR == 1024, "as large as the maps that hold it");

#endif
