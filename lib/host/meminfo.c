/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads /proc/meminfo, and the memory limits of this process's cgroup and of its ancestors. */
#include "host/meminfo.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "host/file.h"
#include "host/mountinfo.h"

int meminfo_available(const char *root, uint64_t *ret_bytes)
{
	char text[8192];
	uint64_t kib;
	char *line;
	int rc = sys_read_file(root, "/proc/meminfo", text, sizeof(text));

	if (rc < 0)
		return rc;
	line = strstr(text, "\nMemAvailable:");
	if (!line || sscanf(line, "\nMemAvailable: %" SCNu64 " kB", &kib) != 1 ||
	    __builtin_mul_overflow(kib, 1024, ret_bytes))
		return -ENODATA;
	return 0;
}

void meminfo_trim(void)
{
#ifdef __GLIBC__
	if (mallinfo2().fordblks > MEMINFO_KEPT_BYTES)
		malloc_trim(0);
#endif
}

/* Finds the cgroup path of this process. Lines of /proc/self/cgroup are NUMBER:CONTROLLERS:PATH. */
static bool own_path(const char *root, bool v2, char ret_path[PATH_MAX])
{
	char text[8192], *rest = text, *line;

	if (sys_read_file(root, "/proc/self/cgroup", text, sizeof(text)) < 0)
		return false;
	while ((line = strsep(&rest, "\n"))) {
		char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

		if (!path || strlen(path + 1) >= PATH_MAX)
			continue;
		*path++ = '\0';
		list++;
		if (v2 ? *list : !mount_has_option(list, "memory"))
			continue;
		strcpy(ret_path, path);
		return true;
	}
	return false;
}

static uint64_t limit_at(const char *root, const struct mount *mount, bool v2, const char *path)
{
	char name[2 * PATH_MAX + 64];
	uint64_t max;

	snprintf(name, sizeof(name), "%s%s/%s", mount->point, path,
		 v2 ? "memory.max" : "memory.limit_in_bytes");
	/* Without a limit the file contains "max", or is missing (root cgroup of v2). */
	return sys_read_u64(root, name, &max) ? UINT64_MAX : max;
}

uint64_t memlimit_bytes(const char *root)
{
	struct mount mount;
	bool v2 = mountinfo_find(root, "cgroup", "memory", &mount);
	char path[PATH_MAX], *at = path;
	uint64_t lowest = UINT64_MAX, here;
	size_t len;

	if ((v2 && mountinfo_find(root, "cgroup2", NULL, &mount)) || !own_path(root, v2, path))
		return UINT64_MAX;
	/* In a container only a subtree of the cgroup hierarchy is mounted. */
	len = strlen(mount.root);
	if (len > 1 && !strncmp(path, mount.root, len))
		at += len;
	len = strlen(at);
	while (len && at[len - 1] == '/')
		at[--len] = '\0';
	for (;;) {
		here = limit_at(root, &mount, v2, at);
		lowest = here < lowest ? here : lowest;
		if (!*at)
			return lowest;
		*strrchr(at, '/') = '\0';
	}
}
