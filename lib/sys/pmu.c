/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists the PMUs under /sys/bus/event_source. */
#include "sys/pmu.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/file.h"

static int pmu_is_hardware(const struct dirent *entry)
{
	static const char *const software[] = {
		"breakpoint", "kprobe", "software", "tracepoint", "uprobe",
	};

	if (entry->d_name[0] == '.')
		return 0;
	for (size_t i = 0; i < sizeof(software) / sizeof(software[0]); i++)
		if (!strcmp(entry->d_name, software[i]))
			return 0;
	return 1;
}

int pmu_list(const char *root, char *buf, size_t size)
{
	struct dirent **entries;
	char dir[PATH_MAX];
	size_t len = 0;
	int nr, rc;

	rc = sys_path(root, "/sys/bus/event_source/devices", dir, sizeof(dir));
	if (rc)
		return rc;
	nr = scandir(dir, &entries, pmu_is_hardware, alphasort);
	if (nr < 0)
		return -errno;
	if (size)
		buf[0] = '\0';
	for (int i = 0; i < nr; i++) {
		if (len < size)
			len += snprintf(buf + len, size - len, "%s%s", len ? " " : "",
					entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return nr;
}
