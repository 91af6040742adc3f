/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which cgroups the user asked for. */
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
	const struct runq_rules *rules; /* that of the caller; NULL: none */
};

/* @mount is where the hierarchy is mounted. -ENOENT if a cgroup does not exist. */
int runq_filter_open(struct runq_filter *filter, const char *mount, const char *const *paths,
		     size_t nr, struct err *err);
void runq_filter_close(struct runq_filter *filter);
/* Whether not every cgroup is asked for. */
bool runq_filter_any(const struct runq_filter *filter);
/* Whether the cgroup, or that of a task, is one of those asked for or below one, and no rule is against it. */
bool runq_filter_passes(const struct runq_filter *filter, const struct runq_group *group);
/* The same of a party, which may be no group. */
bool runq_filter_passes_party(const struct runq_filter *filter, const struct runq_party *party);
/* Whether it does not pass, whatever its names turn out to be. */
bool runq_filter_never(const struct runq_filter *filter, const struct runq_group *group);
/* Which of those asked for is nearest above @path, or @path itself; NULL if none. */
const struct runq_group *runq_filter_nearest(const struct runq_filter *filter, const char *path);

#endif
