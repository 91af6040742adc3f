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

bool meminfo_trim(void)
{
#ifdef __GLIBC__
	return mallinfo2().fordblks > MEMINFO_KEPT_BYTES && malloc_trim(0);
#else
	return false;
#endif
}

/* Mount of the cgroup hierarchy with the memory controller. */
struct memory_mount {
	bool v2;
	char point[PATH_MAX], root[PATH_MAX];
};

/* Uses the first v1 mount with the memory controller, or else the first mount of v2. */
static int visit(const struct mount *mount, void *arg)
{
	struct memory_mount *found = arg;
	bool v1 = !strcmp(mount->fstype, "cgroup") && mount_has_option(mount->options, "memory");
	bool v2 = !strcmp(mount->fstype, "cgroup2");

	if (found->point[0] ? v1 && found->v2 : v1 || v2) {
		found->v2 = v2;
		strcpy(found->point, mount->point);
		strcpy(found->root, mount->root);
	}
	return 0;
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

static uint64_t limit_at(const char *root, const struct memory_mount *mount, const char *path)
{
	char name[2 * PATH_MAX + 64];
	uint64_t max;

	snprintf(name, sizeof(name), "%s%s/%s", mount->point, path,
		 mount->v2 ? "memory.max" : "memory.limit_in_bytes");
	/*
	 * A cgroup has no memory limit if its file contains "max". The root cgroup of v2 has no
	 * file memory.max.
	 */
	return sys_read_u64(root, name, &max) ? UINT64_MAX : max;
}

uint64_t memlimit_bytes(const char *root)
{
	struct memory_mount mount = {0};
	char path[PATH_MAX], *at = path;
	uint64_t lowest = UINT64_MAX, here;
	size_t len;

	if (mountinfo_each(root, visit, &mount) || !mount.point[0] ||
	    !own_path(root, mount.v2, path))
		return UINT64_MAX;
	/* In a container only a subtree of the cgroup hierarchy is mounted. */
	len = strlen(mount.root);
	if (len > 1 && !strncmp(path, mount.root, len))
		at += len;
	len = strlen(at);
	while (len && at[len - 1] == '/')
		at[--len] = '\0';
	for (;;) {
		here = limit_at(root, &mount, at);
		lowest = here < lowest ? here : lowest;
		if (!*at)
			return lowest;
		*strrchr(at, '/') = '\0';
	}
}
