/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings of a cgroup and of its ancestors that decide when its tasks run. */
#ifndef SUBTICK_MEASURE_OVERVIEW_SETTINGS_H
#define SUBTICK_MEASURE_OVERVIEW_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpuset.h"

#define SETTINGS_LEVELS 12
#define SETTINGS_PATH	512

/* The cgroup itself or one of its ancestors below the root. */
struct settings_level {
	unsigned int len;  /* length of the path of this cgroup, a prefix of the cgroup's path */
	uint64_t quota_us; /* cpu.max or cpu.cfs_quota_us, or 0 without a quota */
	uint64_t period_us;
	uint64_t throttled_ns; /* throttled time since the cgroup was created, or 0 if unknown */
	int weight;	       /* cpu.weight (v1: cpu.shares), or -1 without the file */
	int idle;	       /* cpu.idle, or -1 without the file */
};

struct settings {
	char path[SETTINGS_PATH];
	struct settings_level levels[SETTINGS_LEVELS]; /* the cgroup itself first */
	unsigned int nr;
	/* path of the file cpuset.cpus that limits the cgroup; "" if there is no limit */
	char cpuset_file[SETTINGS_PATH];
	struct cpuset cpuset;		 /* content of that file */
};

/* Mount points of the hierarchies with controllers cpu and cpuset; "" if there is none. */
struct settings_mounts {
	char cpu[SETTINGS_PATH], cpuset[SETTINGS_PATH];
	bool v1;
};

/*
 * Reads the settings of @path, and of @cpuset_path, which differs from @path in v1 only. "" for
 * @cpuset_path: unknown. @root as in host/file.h.
 */
void settings_read(const char *root, const struct settings_mounts *mounts, const char *path,
		   const char *cpuset_path, struct settings *ret_settings);

#endif
