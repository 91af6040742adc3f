/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rollups: one row for all groups of a pod, a namespace, a QoS class, a VM or a task name, or for
 * all groups below a path.
 */
#ifndef SUBTICK_MEASURE_RUNQ_ROLLUP_H
#define SUBTICK_MEASURE_RUNQ_ROLLUP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "measure/runq/filter.h"
#include "measure/runq/opts.h"
#include "measure/runq/waits.h"

struct runq_rollup {
	/* The caller sets the members up to `root`. */
	enum runq_rollup_by what;
	unsigned int depth; /* number of names in the path prefix, for ROLLUP_DEPTH */
	/* filter of groups; with ROLLUP_REQUESTED, each cgroup in filter->requested is a row */
	const struct runq_filter *filter;
	const struct pods *pods; /* names of pods for the labels of rows, or NULL */
	const char *root;	 /* directory that contains /proc of the VMs, or NULL for / */

	struct runq_waits_list waits; /* rows of the last window, largest sum first */
	/*
	 * Rows, sorted by key. The key of a row is its serial number since the start of the
	 * measurement. A row is freed when no group has a reference to it.
	 */
	struct runq_group **rows;
	size_t nr;
	uint64_t last_key;
	uint64_t windows; /* number of windows since the start */
	void *tree; /* tree of tsearch(3) with the rollup rows, sorted by label */
};

/*
 * Fills rollup->waits with the sums of the rows of @list that pass the filter. Groups without a
 * slot (RUNQ_PARTY_OTHER) have their own row. @groups are all known groups. A row has ended if all
 * its groups have ended.
 */
int runq_rollup_window(struct runq_rollup *rollup, const struct runq_waits_list *list,
		       struct runq_group *const *groups, size_t nr_groups, struct err *err);
/* Returns the rollup row of @group, valid until the next window, or NULL if out of memory. */
struct runq_group *runq_rollup_of(struct runq_rollup *rollup, const struct runq_group *group);
/* Returns the rollup row with @key, or NULL. */
const struct runq_group *runq_rollup_find(const struct runq_rollup *rollup, uint64_t key);
/*
 * Returns the rollup row that contains the victim or culprit @party. Returns @party itself if it is
 * not a group or if @rollup is NULL.
 */
struct runq_party runq_rollup_party(struct runq_rollup *rollup, const struct runq_party *party);
void runq_rollup_close(struct runq_rollup *rollup);

#endif
