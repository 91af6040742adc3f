/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A window of `subtick runq` with two boundaries, and a list of waits for its rows. */
#ifndef SUBTICK_TESTS_UNIT_RUNQ_LIST_H
#define SUBTICK_TESTS_UNIT_RUNQ_LIST_H

#include "test.h"

#include "dense.h"
#include "measure/runq/filter.h"
#include "measure/runq/kernel.h"
#include "measure/runq/waits.h"
#include "measure/runq/window.h"

static const uint64_t le_ns[] = {1000, 100000};
static const double percentiles[] = {50, 99};

static struct runq_window window;
static struct runq_waits_list list;
static struct runq_filter filter;

static inline void list_begin(void)
{
	window = (struct runq_window){
		.per = RUNQ_PER_CGROUP,
		.sample_ratio = 1.0,
		.le_ns = le_ns,
		.nr_le = 2,
		.percentiles = percentiles,
		.nr_percentiles = 2,
		.has_causes = true,
		.causes_known = (1u << RUNQ_NR_CAUSES) - 1,
	};
	list = (struct runq_waits_list){0};
	filter = (struct runq_filter){0};
}

static inline void list_end(void)
{
	runq_window_clear(&window);
	runq_waits_clear(&list);
	runq_filter_close(&filter);
}

/* Appends a group that waited @nr times for @ns. */
static inline void list_add(uint64_t key, struct runq_group *group, uint64_t nr, uint64_t ns,
			    enum runq_cause cause)
{
	struct runq_group_window row = {.party = runq_party_of(key, group),
					.ended = group->gone,
					.count = nr,
					.sum_ns = nr * ns,
					.max_ns = ns};
	struct hist_entry entries[3] = {{.bucket = hist_index(ns), .count = nr}};
	struct hist hist = {entries, 1};
	struct err err = {0};

	row.cause_ns[cause] = nr * ns;
	for (unsigned int i = 0; i < 2; i++)
		if (hist_index(le_ns[i]) == hist_index(ns) && ns <= le_ns[i])
			hist_push(&hist, HIST_NR + i, nr);
	assert_int_equal(hist_set(&row.hist, &hist), 0);
	assert_int_equal(runq_waits_append(&list, row, &err), 0);
}

#endif
