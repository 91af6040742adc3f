/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trace instances of our own, which are removed however we end. */
#ifndef SUBTICK_SYS_TRACEFS_H
#define SUBTICK_SYS_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "sys/guard.h"

#define TRACEFS_PATH 128

/* Where tracefs is mounted, below debugfs too; -ENOENT if nowhere. It may still be closed to us. */
int tracefs_find(const char *root, char *buf, size_t size);
/* The same, and its events can be reached; err->unsupported with the mount command when there is none. */
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
