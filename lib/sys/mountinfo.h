/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The mounts, from /proc/self/mountinfo. */
#ifndef SUBTICK_SYS_MOUNTINFO_H
#define SUBTICK_SYS_MOUNTINFO_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct mount {
	char root[PATH_MAX];  /* which directory of the file system is mounted */
	char point[PATH_MAX]; /* mount point, without octal escapes */
	char fstype[64];
	char options[1024]; /* of the file system; for cgroup v1 its controllers */
};

/* Returns nonzero to stop; mountinfo_parse() then returns that. */
typedef int (*mountinfo_fn)(const struct mount *mount, void *arg);

/* -EINVAL at the first line that does not parse, -ENAMETOOLONG for fields that do not fit. */
int mountinfo_parse(const char *text, size_t len, mountinfo_fn fn, void *arg);
int mountinfo_each(const char *root, mountinfo_fn fn, void *arg);
/* The first mount of @fstype; -ENOENT if there is none. */
int mountinfo_find(const char *root, const char *fstype, char *buf, size_t size);
/* Whether the comma-separated @options contain @word. */
bool mount_has_option(const char *options, const char *word);

#endif
