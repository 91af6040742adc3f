/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The path of a cgroup of one hierarchy by the kernel's id, and the reverse. */
#ifndef SUBTICK_SYS_CGROUP_PATH_H
#define SUBTICK_SYS_CGROUP_PATH_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct cgroup_paths {
	int fd;	       /* of the mounted hierarchy; -1: there is none */
	size_t prefix; /* length of the mount point */
};

void cgroup_paths_open(struct cgroup_paths *paths, const char *mount);
void cgroup_paths_close(struct cgroup_paths *paths);
/* "/" is the root. -ENOENT if it is gone or outside the mounted part, or another -errno. */
int cgroup_path(const struct cgroup_paths *paths, uint64_t id, char *buf, size_t size);

/*
 * The cgroup that a person names below @mount, which may be "": "/sys/fs/cgroup/a/", "/a" and "a"
 * are the same. -ENOENT if there is none.
 */
int cgroup_find(const char *mount, const char *name, char ret_path[PATH_MAX], uint64_t *ret_id,
		struct err *err);

#endif
