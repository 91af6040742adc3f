/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mounted file systems, and tracefs. */
#ifndef SUBTICK_SYS_MOUNTINFO_H
#define SUBTICK_SYS_MOUNTINFO_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "host/guard.h"

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

#define TRACEFS_PATH 128

/* Where tracefs is mounted, below debugfs too; -ENOENT if nowhere. It may still be closed to us. */
int tracefs_find(const char *root, char *buf, size_t size);
/* Finds tracefs with readable events. Otherwise err->unsupported has the mount command. */
int tracefs_root(char *root, size_t size, struct err *err);
bool tracefs_has_event(const char *root, const char *group, const char *event);
/*
 * 0 if no event of @group is enabled anywhere, else -EBUSY with the instance in @err. tracefs does
 * not show other users of events, such as perf and BPF.
 */
int tracefs_group_unused(const char *root, const char *group, struct err *err);

struct trace_instance {
	char path[TRACEFS_PATH];
	char group[32];
	struct guard guard; /* removes it if we die */
};

/* Creates an instance with a small buffer and nothing enabled. */
int trace_instance_open(struct trace_instance *instance, const char *root, const char *group,
			struct err *err);
int trace_instance_enable(struct trace_instance *instance, bool on, struct err *err);
/* Disables and removes it; 0 only if it is really gone. */
int trace_instance_close(struct trace_instance *instance);

#endif
