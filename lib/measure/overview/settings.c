/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads quota, weight and cpuset of a cgroup and of its ancestors. */
#include "measure/overview/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/file.h"

/* Directory of a cgroup: the first @len bytes of @path below @mount. */
struct dir {
	const char *root, *mount, *path;
	unsigned int len;
};

/*
 * Reads a file in the directory of a cgroup. Returns false if the file does not exist or its path
 * is too long.
 */
static bool read_in(const struct dir *dir, const char *file, char *buf, size_t size)
{
	char path[2 * SETTINGS_PATH + 64];
	int len = snprintf(path, sizeof(path), "%s%.*s/%s", dir->mount, (int)dir->len, dir->path,
			   file);

	return len < (int)sizeof(path) && sys_read_file(dir->root, path, buf, size) >= 0;
}

static int read_int(const struct dir *dir, const char *file)
{
	char text[64];

	return read_in(dir, file, text, sizeof(text)) ? atoi(text) : -1;
}

static void read_quota(const struct dir *dir, bool v1, struct settings_level *level)
{
	char text[2048];
	const char *at;

	/* "max 100000" in v2 and "-1" in v1 mean no quota. */
	if (!read_in(dir, v1 ? "cpu.cfs_quota_us" : "cpu.max", text, sizeof(text)) ||
	    sscanf(text, "%" SCNu64 " %" SCNu64, &level->quota_us, &level->period_us) < 1 ||
	    text[0] == '-') {
		level->quota_us = 0;
		return;
	}
	if (v1)
		level->period_us = (uint64_t)read_int(dir, "cpu.cfs_period_us");
	if (!read_in(dir, "cpu.stat", text, sizeof(text)))
		return;
	at = strstr(text, v1 ? "throttled_time " : "throttled_usec ");
	if (at)
		level->throttled_ns = strtoull(strchr(at, ' '), NULL, 10) * (v1 ? 1 : 1000);
}

/* Returns the length of the path of the cgroup's parent; 0 if the parent is the root. */
static unsigned int parent_len(const char *path, unsigned int len)
{
	while (len && path[--len] != '/')
		;
	return len;
}

static void read_cpusets(const char *root, const char *mount, const char *path, struct settings *s)
{
	struct dir dir = {.root = root, .mount = mount, .path = path};
	char text[4096];

	if (snprintf(s->cpuset_dir, SETTINGS_PATH, "%s%s", mount, path) >= SETTINGS_PATH) {
		s->cpuset_dir[0] = '\0';
		return;
	}
	for (dir.len = (unsigned int)strlen(path); dir.len > 1 && s->nr_cpusets < SETTINGS_LEVELS;
	     dir.len = parent_len(path, dir.len)) {
		struct settings_cpuset *set = &s->cpusets[s->nr_cpusets];

		if (!read_in(&dir, "cpuset.cpus", text, sizeof(text)) || !text[0] ||
		    cpuset_parse(text, &set->cpus))
			continue;
		set->len = (unsigned int)strlen(mount) + dir.len;
		s->nr_cpusets++;
	}
}

void settings_read(const char *root, const struct settings_mounts *mounts, const char *path,
		   const char *cpuset_path, struct settings *ret_settings)
{
	struct dir dir = {.root = root, .mount = mounts->cpu, .path = path};

	*ret_settings = (struct settings){0};
	if (snprintf(ret_settings->path, SETTINGS_PATH, "%s", path) >= SETTINGS_PATH ||
	    !mounts->cpu[0])
		return;
	for (dir.len = (unsigned int)strlen(path);
	     dir.len > 1 && ret_settings->nr < SETTINGS_LEVELS;
	     dir.len = parent_len(path, dir.len)) {
		struct settings_level *level = &ret_settings->levels[ret_settings->nr++];

		*level = (struct settings_level){
			.len = dir.len,
			.weight = read_int(&dir, mounts->v1 ? "cpu.shares" : "cpu.weight"),
			.idle = read_int(&dir, "cpu.idle"),
		};
		read_quota(&dir, mounts->v1, level);
	}
	if (mounts->cpuset[0] && cpuset_path[0])
		read_cpusets(root, mounts->cpuset, cpuset_path, ret_settings);
}
