/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which cgroup hierarchies are mounted, and where. */
#ifndef SUBTICK_SYS_CGROUP_H
#define SUBTICK_SYS_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum cgroup_mode {
	CGROUP_NONE,
	CGROUP_V1,
	CGROUP_V2,
	CGROUP_HYBRID, /* v1 controllers, and v2 beside them */
};

struct cgroup_layout {
	enum cgroup_mode mode;
	char v2[PATH_MAX];     /* mount point of the unified hierarchy, "" if none */
	char v1_cpu[PATH_MAX]; /* mount point of the v1 hierarchy with controller cpu, "" if none */
	bool subtree;	       /* only a part of a hierarchy is mounted, as in a container */
};

int cgroup_layout(const char *root, struct cgroup_layout *ret_layout);
/*
 * Whether v1 controls the CPU: its controller cpu is mounted, unless that has no cgroup but its root
 * while v2 has some.
 */
bool cgroup_cpu_is_v1(const struct cgroup_layout *layout);
/* An estimate of how many cgroups there are: the directory @path and all below it. */
size_t cgroup_count(const char *path);
const char *cgroup_mode_name(enum cgroup_mode mode);

#endif
