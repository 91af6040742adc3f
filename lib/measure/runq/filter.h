/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which cgroups the user asked for. */
#ifndef SUBTICK_MEASURE_RUNQ_FILTER_H
#define SUBTICK_MEASURE_RUNQ_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "measure/runq/group.h"

struct runq_filter {
	struct runq_group **asked; /* paths below the root of the hierarchy, without keys */
	size_t nr;		   /* 0: all cgroups */
};

/* @mount is where the hierarchy is mounted. -ENOENT if a cgroup does not exist. */
int runq_filter_open(struct runq_filter *filter, const char *mount, const char *const *paths,
		     size_t nr, struct err *err);
void runq_filter_close(struct runq_filter *filter);
/* Whether the cgroup is one of those asked for or below one. */
bool runq_filter_passes(const struct runq_filter *filter, const char *path);
/* Which of those asked for is nearest above @path, or @path itself; NULL if none. */
const struct runq_group *runq_filter_nearest(const struct runq_filter *filter, const char *path);

#endif
