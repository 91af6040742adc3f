/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of a window: waits of each group. */
#ifndef SUBTICK_MEASURE_RUNQ_WAITS_H
#define SUBTICK_MEASURE_RUNQ_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "measure/runq/filter.h"
#include "measure/runq/group.h"
#include "stats/hist.h"

/*
 * Waits of one group in one window. slots.c fills the counters, and avoidable.c the avoidable
 * waits. runq_window_groups() computes all other members, and extrapolates counts and sums if waits
 * are sampled.
 */
struct runq_group_window {
	struct runq_party party; /* the group, or RUNQ_PARTY_OTHER for all groups without a slot */
	bool ended;		 /* true if the cgroup or task had ended by the end of the window */
	bool exceeded;		 /* true if judged_ns is above runq_window.limit_ns */
	uint64_t count;
	uint64_t sum_ns;
	double avg_ns; /* mean wait; NAN if there were no waits */
	uint64_t max_ns;
	uint64_t cause_ns[RUNQ_NR_CAUSES]; /* parts of sum_ns by cause; see causes_known */
	/*
	 * Avoidable waits require opts.avoidable. Groups without a slot have times of UINT64_MAX.
	 */
	/* lower bound of the time that tasks waited while a CPU that they may use was idle */
	uint64_t avoidable_ns;
	uint64_t avoidable_most_ns; /* upper bound of avoidable_ns */
	/*
	 * time that tasks waited while CPUs were idle, but affinity or cpuset excluded the tasks
	 * from all idle CPUs
	 */
	uint64_t excluded_ns;
	/*
	 * CPUs that were idle during avoidable_ns and during excluded_ns, or UINT32_MAX; undefined
	 * if the time is 0.
	 */
	uint32_t idle_cpu, excluded_cpu;
	/* exact number of waits that are at most as long as each boundary of le_ns */
	const uint64_t *le_count;
	/* requested percentiles of the wait time; NAN without waits */
	const double *percentile_ns;
	/* percentile of the wait time that is compared with the limit; NAN without a limit */
	double judged_ns;
	/* relative standard error of `count` due to sampling; NAN if all waits are counted */
	double count_stderr_ratio;
	/*
	 * relative standard error of `sum_ns` due to sampling; NAN if all waits are counted, or
	 * without a fine histogram
	 */
	double sum_stderr_ratio;
	struct hist hist; /* counts of sampled waits in buckets of runq_scale(), not extrapolated */
};

/* The list owns the histograms of its rows and a reference to each group. */
struct runq_waits_list {
	struct runq_group_window *rows;
	size_t nr;
};

/*
 * Appends @row and takes a reference to its group. The list owns the histogram of @row even after a
 * failure.
 */
int runq_waits_append(struct runq_waits_list *list, struct runq_group_window row, struct err *err);
/* Adds the waits of @more to @row. If runq_waits_add() returns -ENOMEM, @row is unchanged. */
int runq_waits_add(struct runq_group_window *row, const struct runq_group_window *more);
/* Frees rows of groups that do not pass the filter. Rows that pass the filter keep their order. */
void runq_waits_filter(struct runq_waits_list *list, const struct runq_filter *filter);
/* Merges rows of the same group and sorts the rows by the sum of their waits, largest first. */
void runq_waits_merge(struct runq_waits_list *list);
void runq_waits_clear(struct runq_waits_list *list);

#endif
