/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums over cgroups: one row for all cgroups of a pod, of a QoS class, or below a path. */
#ifndef SUBTICK_MEASURE_RUNQ_SUMS_H
#define SUBTICK_MEASURE_RUNQ_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "measure/runq/filter.h"
#include "measure/runq/opts.h"
#include "measure/runq/waits.h"

struct runq_sum_entry;

struct runq_sums {
	/* Set by the owner. */
	enum runq_sum what;
	unsigned int depth;		  /* of RUNQ_SUM_DEPTH */
	const struct runq_filter *filter; /* which cgroups count; of RUNQ_SUM_ASKED also the rows */
	const struct pods *pods;	  /* names for the sums; NULL: none */

	struct runq_waits_list waits; /* of the last window, largest sum first */
	struct runq_sum_entry *entries;
	size_t nr;
	uint32_t *index; /* open addressing over labels: entry + 1, 0 for none */
	size_t index_size;
};

/*
 * Replaces @sums->waits by the sums over those of @list that pass the filter: counts, histograms,
 * causes, and the largest maximum. What found no slot stays a row of its own. @groups are all that
 * are known: a sum has ended once none of its groups is left.
 */
int runq_sums_window(struct runq_sums *sums, const struct runq_waits_list *list,
		     struct runq_group *const *groups, size_t nr_groups, struct err *err);
/*
 * The group that @group is summed in, NULL without memory. Its key is for rows of blame, and means
 * something until the next window only.
 */
const struct runq_group *runq_sums_of(struct runq_sums *sums, const struct runq_group *group);
/* By such a key; NULL if there is none. */
const struct runq_group *runq_sums_find(const struct runq_sums *sums, uint64_t key);
/* The same party, or the sum that its group is in. */
struct runq_party runq_sums_party(struct runq_sums *sums, const struct runq_party *party);
void runq_sums_close(struct runq_sums *sums);

#endif
