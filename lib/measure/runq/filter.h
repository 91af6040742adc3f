/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cgroups that the user requested. */
#ifndef SUBTICK_MEASURE_RUNQ_FILTER_H
#define SUBTICK_MEASURE_RUNQ_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "measure/runq/group.h"
#include "measure/runq/rules.h"

struct runq_filter {
	struct runq_group **asked; /* paths below the root of the hierarchy, without keys */
	size_t nr;		   /* 0: all cgroups */
	const struct runq_rules *rules; /* owned by the caller; NULL: none */
};

/* @mount is where the hierarchy is mounted. -ENOENT if a cgroup does not exist. */
int runq_filter_open(struct runq_filter *filter, const char *mount, const char *const *paths,
		     size_t nr, struct err *err);
void runq_filter_close(struct runq_filter *filter);
/* True if some cgroups do not pass. */
bool runq_filter_any(const struct runq_filter *filter);
/* True if the path of @group is a requested one or below it, and the rules pass it. */
bool runq_filter_passes(const struct runq_filter *filter, const struct runq_group *group);
/* For a party that may be no group: its word, such as "(idle)", is its path. */
bool runq_filter_passes_party(const struct runq_filter *filter, const struct runq_party *party);
/* True if @group does not pass, and cannot pass once its names are known. */
bool runq_filter_never(const struct runq_filter *filter, const struct runq_group *group);
/* The requested cgroup that is @path or the nearest above it; NULL if none. */
const struct runq_group *runq_filter_nearest(const struct runq_filter *filter, const char *path);

#endif
