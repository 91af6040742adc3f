/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings of a cgroup and its ancestors that determine how much CPU time its tasks get. */
#ifndef SUBTICK_MEASURE_OVERVIEW_SETTINGS_H
#define SUBTICK_MEASURE_OVERVIEW_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpuset.h"

#define SETTINGS_LEVELS 12
#define SETTINGS_PATH	512

/* Settings of the cgroup itself, or of one of its ancestors below the root. */
struct settings_level {
	/* length of the path of the cgroup at this level, a prefix of settings.path */
	unsigned int len;
	uint64_t quota_us; /* quota from cpu.max or cpu.cfs_quota_us, or 0 without a quota */
	uint64_t period_us;
	uint64_t throttled_ns; /* throttled time since the cgroup was created, or 0 if unknown */
	int weight;	       /* cpu.weight (v1: cpu.shares), or -1 if the file does not exist */
	int idle;	       /* cpu.idle, or -1 if the file does not exist */
};

/* Content of a file cpuset.cpus that is not empty. */
struct settings_cpuset {
	/* length of the path of the directory of cpuset.cpus, a prefix of cpuset_dir */
	unsigned int len;
	struct cpuset cpus;
};

struct settings {
	char path[SETTINGS_PATH];
	/* settings of the cgroup itself, then of its ancestors */
	struct settings_level levels[SETTINGS_LEVELS];
	unsigned int nr;
	/* directory of the cgroup in the hierarchy of cpuset; "" if unknown */
	char cpuset_dir[SETTINGS_PATH];
	/* cpusets of the cgroup and of its ancestors below the root, the cgroup itself first */
	struct settings_cpuset cpusets[SETTINGS_LEVELS];
	unsigned int nr_cpusets;
};

/*
 * Mount points of the hierarchies with the controllers cpu and cpuset. A mount point is "" if the
 * hierarchy is not mounted.
 */
struct settings_mounts {
	char cpu[SETTINGS_PATH], cpuset[SETTINGS_PATH];
	bool v1;
};

/*
 * Reads the settings of the cgroup @path. @cpuset_path is the path of the cgroup in the hierarchy
 * of controller cpuset, or "" if unknown. In cgroup v2, @cpuset_path equals @path. @root is the
 * directory that contains /proc and /sys, or NULL for / (host/file.h).
 */
void settings_read(const char *root, const struct settings_mounts *mounts, const char *path,
		   const char *cpuset_path, struct settings *ret_settings);

#endif
