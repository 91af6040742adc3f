/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rollups: one row for all groups of a pod, namespace, QoS class, VM or name, or below a path. */
#ifndef SUBTICK_MEASURE_RUNQ_ROLLUP_H
#define SUBTICK_MEASURE_RUNQ_ROLLUP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "measure/runq/filter.h"
#include "measure/runq/opts.h"
#include "measure/runq/waits.h"

struct runq_rollup {
	/* Set by the owner. */
	enum runq_rollup_by what;
	unsigned int depth;		  /* of ROLLUP_DEPTH */
	const struct runq_filter *filter; /* cgroups that count; also the rows of ROLLUP_REQUESTED */
	const struct pods *pods;	  /* names of the rows; may be NULL */
	const char *root;		  /* of /proc with ROLLUP_VM and ROLLUP_VCPU; NULL: "/" */

	struct runq_waits_list waits; /* of the last window, largest sum first */
	/*
	 * Rows, ascending by key. They are kept across windows, until no cgroup refers to them. Keys
	 * count rows since the start.
	 */
	struct runq_group **rows;
	size_t nr;
	uint64_t last_key;
	uint64_t windows; /* since the start */
	void *tree; /* rows by label, of tsearch(3) */
};

/*
 * Replaces @rollup->waits by the sums over the rows of @list that pass the filter: counts,
 * histograms, causes, and the largest maximum. RUNQ_PARTY_OTHER stays a row of its own. @groups are
 * all known cgroups: a row has ended when none of its cgroups exists any more.
 */
int runq_rollup_window(struct runq_rollup *rollup, const struct runq_waits_list *list,
		       struct runq_group *const *groups, size_t nr_groups, struct err *err);
/* The row that @group counts in; NULL without memory. Valid until the next window. */
struct runq_group *runq_rollup_of(struct runq_rollup *rollup, const struct runq_group *group);
/* The row with @key, for rows of blame; NULL without such a row. */
const struct runq_group *runq_rollup_find(const struct runq_rollup *rollup, uint64_t key);
/* The row that the group of @party counts in, or @party; @rollup may be NULL. */
struct runq_party runq_rollup_party(struct runq_rollup *rollup, const struct runq_party *party);
void runq_rollup_close(struct runq_rollup *rollup);

#endif
