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
 * One group in one window. Slots fill party, ended, count, sum_ns, max_ns, cause_ns and hist;
 * runq_avoidable_window() the avoidable members; runq_window_groups() fills the rest and scales counts and sums where waits are sampled.
 */
struct runq_group_window {
	struct runq_party party; /* RUNQ_PARTY_GROUP, or RUNQ_PARTY_OTHER: groups without a slot */
	bool ended;		 /* the cgroup or task had ended by the end of the window */
	bool exceeded;		 /* judged_ns is above the limit */
	uint64_t count;
	uint64_t sum_ns;
	double avg_ns; /* NAN without waits */
	uint64_t max_ns;
	uint64_t cause_ns[RUNQ_NR_CAUSES]; /* parts of sum_ns; see causes_known */
	/* With opts.avoidable; exact if the first two are equal. UINT64_MAX in a row that is no group. */
	uint64_t avoidable_ns;	    /* at least: a core that the task may use was idle */
	uint64_t avoidable_most_ns; /* at most */
	uint64_t excluded_ns;	    /* only cores that affinity or cpuset excludes were idle */
	/* One of those cores; UINT32_MAX: unknown. Meaningless if the time is 0. */
	uint32_t idle_cpu, excluded_cpu;
	const uint64_t *le_count;	   /* exact: waits up to and including each of le_ns */
	const double *percentile_ns;	   /* each of percentiles; NAN without waits */
	double judged_ns;	   /* the percentile that the limit applies to; NAN without one */
	double count_stderr_ratio; /* of a sample; NAN where every wait counts */
	double sum_stderr_ratio;   /* NAN also without a fine histogram */
	struct hist hist;	   /* of runq_scale(); never scaled */
};

/* The list owns the histograms of its rows and a reference to each group. */
struct runq_waits_list {
	struct runq_group_window *rows;
	size_t nr;
};

/* Appends @row with a reference to its group. Takes over its histogram, also on failure. */
int runq_waits_append(struct runq_waits_list *list, struct runq_group_window row, struct err *err);
/* Adds the waits of @more to @row: -ENOMEM leaves @row as it was. */
int runq_waits_add(struct runq_group_window *row, const struct runq_group_window *more);
/* Frees rows that do not pass, except RUNQ_PARTY_OTHER; the order of the rest stays. */
void runq_waits_filter(struct runq_waits_list *list, const struct runq_filter *filter);
/* Largest sum first. A group that ended and then waited again has one row. */
void runq_waits_merge(struct runq_waits_list *list);
void runq_waits_clear(struct runq_waits_list *list);

#endif
