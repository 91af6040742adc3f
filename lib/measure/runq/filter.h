/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filter of groups by --cgroup, --include and --exclude. */
#ifndef SUBTICK_MEASURE_RUNQ_FILTER_H
#define SUBTICK_MEASURE_RUNQ_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "measure/runq/group.h"
#include "measure/runq/rules.h"

struct runq_filter {
	struct runq_group **requested; /* requested cgroups (--cgroup) */
	size_t nr;		   /* number of requested cgroups, or 0 for all cgroups */
	/* rules of --include and --exclude, owned by the caller, or NULL */
	const struct runq_rules *rules;
};

/* Finds the cgroups @paths below the mount point @mount. Returns -ENOENT if a path is missing. */
int runq_filter_open(struct runq_filter *filter, const char *mount, const char *const *paths,
		     size_t nr, struct err *err);
void runq_filter_close(struct runq_filter *filter);
/* True if @filter has requested cgroups or rules. */
bool runq_filter_any(const struct runq_filter *filter);
/* True if @group passes the rules and, with --cgroup, is at or below a requested cgroup. */
bool runq_filter_passes(const struct runq_filter *filter, const struct runq_group *group);
/*
 * Applies the filter to the victim or culprit @party. If @party is not a group, the filter uses its
 * name, such as "(idle)", as the path.
 */
bool runq_filter_passes_party(const struct runq_filter *filter, const struct runq_party *party);
/* True if @group cannot pass the filter, whatever its unknown names are. */
bool runq_filter_never(const struct runq_filter *filter, const struct runq_group *group);
/* Returns the nearest requested cgroup at or above @path, or NULL. */
const struct runq_group *runq_filter_nearest(const struct runq_filter *filter, const char *path);

#endif
