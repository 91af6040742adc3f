/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arithmetic of run-queue waits: windows, exact counts at boundaries, sampling, blame. */
#ifndef SUBTICK_STATS_RUNQ_H
#define SUBTICK_STATS_RUNQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/runq.h"

/* Counters of one group, since the start or of one window. */
struct runq_totals {
	uint64_t count[HIST_NR];
	uint64_t below[RUNQ_NR_LE]; /* as in struct runq_hist */
	uint64_t cause_ns[RUNQ_NR_CAUSES];
	uint64_t max_ns;
};

/*
 * The same without the histogram: struct runq_steps added up. Those that are kept for each of many
 * groups end with the counts in use: see runq_steps_copy().
 */
struct runq_step_totals {
	uint64_t cause_ns[RUNQ_NR_CAUSES];
	uint64_t max_ns;
	uint32_t nr; /* counts in use: one more than boundaries */
	uint32_t pad;
	uint64_t count[RUNQ_NR_LE + 1];
};

/* Adds up a mapped slot; max_ns is 0. */
void runq_slot_sum(const void *slot, unsigned int stripes, unsigned int cpus,
		   struct runq_totals *ret_totals);
void runq_slot_steps(const void *slot, unsigned int stripes, unsigned int cpus, unsigned int nr_le,
		     struct runq_step_totals *ret_totals);
/* How many waits it has. @steps: it has struct runq_steps, with @nr_le boundaries. */
uint64_t runq_slot_count(const void *slot, bool steps, unsigned int stripes, unsigned int nr_le);
/* Its waits alone. @steps: it has struct runq_steps. */
uint64_t runq_slot_wait_ns(const void *slot, bool steps, unsigned int stripes, unsigned int cpus);
/* Subtracts @was from @now; max_ns stays. */
void runq_totals_sub(struct runq_totals *now, const struct runq_totals *was);
void runq_totals_add(struct runq_totals *totals, const struct runq_totals *more);
uint64_t runq_totals_count(const struct runq_totals *totals);
uint64_t runq_totals_sum_ns(const struct runq_totals *totals);
/*
 * The largest wait. Exact, because each core keeps its own maximum. Only if a wait ended between
 * reading the maximum and reading the histogram, it is the lower edge of the highest bucket.
 */
uint64_t runq_totals_max_ns(const struct runq_totals *totals);
/* Of all waits, as hist_percentile(), but never above the largest; -1.0 without waits. */
double runq_totals_percentile(const struct runq_totals *totals, double percent);

/* The default boundaries: 10 us to 1 s in steps of 1, 2, 5. */
#define RUNQ_LE_DEFAULT_NS                                                                        \
	{                                                                                         \
		10000, 20000, 50000, 100000, 200000, 500000, 1000000, 2000000, 5000000, 10000000, \
			20000000, 50000000, 100000000, 200000000, 500000000, 1000000000           \
	}

/*
 * Which boundary is in which bucket: in[b] is 1 + its index, 0 for none. -EINVAL if @le is not
 * ascending or two are in the same bucket, less than 3.2 % apart; *ret_bad is then the second one.
 */
int runq_le_place(const uint64_t *le, unsigned int nr, uint8_t in[HIST_NR], unsigned int *ret_bad);
/* How many boundaries of @in lie in lower buckets. */
void runq_le_before(const uint8_t in[HIST_NR], uint8_t ret_before[HIST_NR]);
/*
 * Tables for the quick path of the programs, by wait / HIST_SUB, of waits below RUNQ_QUICK_NS: which
 * step a wait is in, at least RUNQ_QUICK_LE where a boundary of @in lies; and its bucket, as
 * RUNQ_QUICK_FIRST explains.
 */
void runq_quick_steps(const uint8_t in[HIST_NR], uint8_t ret_step[RUNQ_NR_QUICK]);
void runq_quick_buckets(const uint8_t in[HIST_NR], uint8_t ret_bucket[RUNQ_NR_QUICK]);
/* Waits of at most each boundary of @le, exact. */
void runq_le_counts(const struct runq_totals *totals, const uint64_t *le, unsigned int nr,
		    uint64_t *ret_counts);

/*
 * Standard error of a count and of a sum that were scaled from a sample of @ratio, relative to
 * them; NAN without waits. That of the sum is estimated from the histogram.
 */
double runq_count_stderr(uint64_t count, double ratio);
double runq_sum_stderr(const struct runq_totals *totals, double ratio);

/* Sorts them by victim, then culprit; rows of one pair become one. Returns how many are left. */
size_t runq_rows_merge(struct runq_row *rows, size_t nr);
/*
 * Victims by their whole wait, largest first, and their culprits likewise; beyond @per_victim
 * culprits, the rest of that victim goes to RUNQ_KEY_OTHER. Returns the number of rows left.
 */
size_t runq_rows_rank(struct runq_row *rows, size_t nr, size_t per_victim);

#endif
