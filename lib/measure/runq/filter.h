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
	bool tree;		   /* and everything below them */
};

/* @mount is where the hierarchy is mounted. -ENOENT if a cgroup does not exist. */
int runq_filter_open(struct runq_filter *filter, const char *mount, const char *const *paths,
		     size_t nr, bool tree, struct err *err);
void runq_filter_close(struct runq_filter *filter);
bool runq_filter_passes(const struct runq_filter *filter, const char *path);

#endif
