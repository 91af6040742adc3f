/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Evaluates run-queue waits: exact counts up to each boundary, sampling errors, and culprits. */
#ifndef SUBTICK_STATS_RUNQ_H
#define SUBTICK_STATS_RUNQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/runq.h"
#include "stats/hist.h"

/* Memory layout of a slot (the counters of a group), set when the BPF programs are loaded. */
struct runq_shape {
	unsigned int stripes, cpus;
	/* true if the histograms of a slot are struct runq_steps; false for struct runq_hist */
	bool steps;
	unsigned int nr_le; /* number of histogram boundaries */
};

/* Maximum number of histogram counters of a slot. */
#define RUNQ_NR_COUNTS (HIST_NR + RUNQ_NR_LE)

size_t runq_stripe_size(const struct runq_shape *shape);
/*
 * Returns the histogram scale of slots: the @nr_le boundaries if @steps is true, else the fine
 * log-linear scale.
 */
struct hist_scale runq_scale(bool steps, const uint64_t *le, unsigned int nr_le);
/*
 * Adds up the histograms (stripes) of a memory-mapped slot. @ret_hist must have room for
 * RUNQ_NR_COUNTS entries.
 */
void runq_slot_read(const void *slot, const struct runq_shape *shape,
		    uint64_t ret_cause_ns[RUNQ_NR_CAUSES], struct hist *ret_hist);
uint64_t runq_slot_count(const void *slot, const struct runq_shape *shape);
uint64_t runq_slot_wait_ns(const void *slot, const struct runq_shape *shape);

/* Default histogram boundaries: 10 us, 20 us, 50 us and so on up to 1 s. */
#define RUNQ_LE_DEFAULT_NS                                                                        \
	{                                                                                         \
		10000, 20000, 50000, 100000, 200000, 500000, 1000000, 2000000, 5000000, 10000000, \
			20000000, 50000000, 100000000, 200000000, 500000000, 1000000000           \
	}

/*
 * Assigns boundaries to fine buckets: in[b] is the index of the boundary in bucket b plus 1, or 0
 * if bucket b contains no boundary. Returns -EINVAL if @le is not ascending, has more than
 * RUNQ_NR_LE elements or one above HIST_VALUE_MAX, or if two boundaries are in one bucket (less
 * than 3.2 % apart). *@ret_bad is then the index of the refused boundary.
 */
int runq_le_assign(const uint64_t *le, unsigned int nr, uint8_t in[HIST_NR], unsigned int *ret_bad);
/* Sets ret_before[b] to the number of boundaries in buckets below b. */
void runq_le_before(const uint8_t in[HIST_NR], uint8_t ret_before[HIST_NR]);
/*
 * Fills the table that maps short waits (ns ÷ HIST_SUB) to histogram buckets for the BPF programs.
 * If @steps is true, an element is an index in runq_steps.count. If @steps is false, an element is
 * a code of abi/runq.h (see RUNQ_QUICK_FIRST). RUNQ_QUICK_LE and above mean that a boundary divides
 * the waits of the element.
 */
void runq_quick_table(const uint8_t in[HIST_NR], bool steps, uint8_t ret_table[RUNQ_NR_QUICK]);
/* Computes the exact number of waits that are not longer than each boundary. */
void runq_le_counts(const struct hist_scale *scale, const struct hist *hist, const uint64_t *le,
		    unsigned int nr, uint64_t *ret_counts);

/*
 * Return the relative standard errors of a count and of a sum that were extrapolated from a sample
 * with the ratio @ratio. The result is NAN if there are no waits. The error of the sum is estimated
 * from the fine histogram @hist.
 */
double runq_count_stderr(uint64_t count, double ratio);
double runq_sum_stderr(const struct hist *hist, double ratio);

/* Sorts blame rows by victim and culprit, and merges equal pairs. Returns the rows left. */
size_t runq_rows_merge(struct runq_row *rows, size_t nr);
/*
 * Sorts victims by total wait time, and the culprits of each victim by wait time, largest first. If
 * a victim has more than @per_victim culprits, its last row is RUNQ_KEY_OTHER, the sum of its
 * remaining culprits. Returns the number of rows left.
 */
size_t runq_rows_rank(struct runq_row *rows, size_t nr, size_t per_victim);

#endif
