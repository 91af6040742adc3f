/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows of waits that were counted at boundaries only, without a histogram. */
#ifndef SUBTICK_STATS_RUNQ_STEPS_H
#define SUBTICK_STATS_RUNQ_STEPS_H

#include "stats/runq.h"

/* Of the counts in use only, to keep; NULL if there is no memory. */
struct runq_step_totals *runq_steps_copy(const struct runq_step_totals *totals);
/* Into such a copy of as many counts. */
void runq_steps_set(struct runq_step_totals *copy, const struct runq_step_totals *totals);

/* All of these are of as many counts. Subtracts @was, which may be NULL; max_ns stays. */
void runq_steps_sub(struct runq_step_totals *now, const struct runq_step_totals *was);
void runq_steps_add(struct runq_step_totals *totals, const struct runq_step_totals *more);
uint64_t runq_steps_count(const struct runq_step_totals *totals);
uint64_t runq_steps_sum_ns(const struct runq_step_totals *totals);
/* Waits of at most each boundary, exact. */
void runq_steps_le(const struct runq_step_totals *totals, unsigned int nr, uint64_t *ret_counts);
/* The largest wait, as runq_totals_max_ns(). */
uint64_t runq_steps_max_ns(const struct runq_step_totals *totals, const uint64_t *le,
			   unsigned int nr);
/*
 * Of @count waits up to @max_ns, which are those of the functions above.
 * Interpolated between the two boundaries around it, and between the last one and the largest
 * wait: it can be wrong by as much as those are apart. -1.0 without waits.
 */
double runq_steps_percentile(const struct runq_step_totals *totals, const uint64_t *le,
			     unsigned int nr, uint64_t count, uint64_t max_ns, double percent);

#endif
