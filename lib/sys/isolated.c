/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the lists of isolated CPUs; one that the kernel lacks is empty. */
#include "sys/isolated.h"

#include <limits.h>
#include <stdio.h>

#include "sys/file.h"

static void add_list(const char *root, const char *path, struct cpuset *set)
{
	char text[4096];
	struct cpuset more;

	/* Without nohz_full= the file contains "(null)" or nothing. */
	if (sys_read_file(root, path, text, sizeof(text)) < 0 || cpuset_parse(text, &more))
		return;
	for (size_t i = 0; i < sizeof(set->bits) / sizeof(set->bits[0]); i++)
		set->bits[i] |= more.bits[i];
}

void isolated_cpus(const char *root, const char *cgroup2, struct cpuset *ret_set)
{
	char path[PATH_MAX];

	*ret_set = (struct cpuset){0};
	add_list(root, "/sys/devices/system/cpu/nohz_full", ret_set);
	add_list(root, "/sys/devices/system/cpu/isolated", ret_set);
	/* Of all isolated partitions together; Linux 6.7 and later. */
	if (cgroup2[0] &&
	    snprintf(path, sizeof(path), "%s/cpuset.cpus.isolated", cgroup2) < (int)sizeof(path))
		add_list(root, path, ret_set);
}
