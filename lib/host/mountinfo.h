/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parser of /proc/self/mountinfo, and trace instances of tracefs. */
#ifndef SUBTICK_SYS_MOUNTINFO_H
#define SUBTICK_SYS_MOUNTINFO_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "host/guard.h"

struct mount {
	char root[PATH_MAX];  /* directory of the file system that is mounted at the mount point */
	char point[PATH_MAX]; /* mount point, without octal escapes */
	char fstype[64];
	char options[1024]; /* file system options, including the controllers of cgroup v1 */
};

/* Callback for each mount. Return nonzero to end the parsing with this return value. */
typedef int (*mountinfo_fn)(const struct mount *mount, void *arg);

/*
 * Parses the text of mountinfo. Returns -EINVAL at the first line of mountinfo that cannot be
 * parsed, and -ENAMETOOLONG if a path or the file system type does not fit into struct mount.
 */
int mountinfo_parse(const char *text, size_t len, mountinfo_fn fn, void *arg);
int mountinfo_each(const char *root, mountinfo_fn fn, void *arg);
/*
 * Finds the first mount with file system type @fstype and with @option in its options; a NULL
 * @option matches all mounts. Returns -ENOENT if no mount matches.
 */
int mountinfo_find(const char *root, const char *fstype, const char *option,
		   struct mount *ret_mount);
/* True if the comma-separated @options contain @word. */
bool mount_has_option(const char *options, const char *word);

#define TRACEFS_PATH 128

/* Finds the mount point of tracefs, which may be inaccessible, or -ENOENT. */
int tracefs_find(const char *root, char *buf, size_t size);
/* Finds tracefs with accessible events, or sets @err with the fix. */
int tracefs_root(char *root, size_t size, struct err *err);
bool tracefs_has_event(const char *root, const char *group, const char *event);
/*
 * Returns 0 if no event of @group is enabled in any trace instance, else -EBUSY. Trace events that
 * perf or BPF programs use are not detected, because tracefs does not show use by perf or BPF.
 */
int tracefs_group_unused(const char *root, const char *group, struct err *err);

struct trace_instance {
	char path[TRACEFS_PATH];
	char group[32];
	struct guard guard; /* guard process that removes the trace instance if this process dies */
};

/* Creates a trace instance with a small buffer and no enabled events. */
int trace_instance_open(struct trace_instance *instance, const char *root, const char *group,
			struct err *err);
int trace_instance_enable(struct trace_instance *instance, bool on, struct err *err);
/* Removes the instance. Fails if the directory cannot be removed. */
int trace_instance_close(struct trace_instance *instance);

#endif
