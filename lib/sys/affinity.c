/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads and sets affinity masks of any size; reads isolated CPUs. */
#include "sys/affinity.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>

#include "sys/file.h"

union mask {
	cpu_set_t set; /* only for the type that the calls expect; it is smaller */
	unsigned char room[CPUSET_MAX / 8];
};

int affinity_get(pid_t pid, struct cpuset *ret_cpus)
{
	struct cpuset cpus = {0};
	union mask mask;

	if (sched_getaffinity(pid, sizeof(mask), &mask.set))
		return -errno;
	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++)
		if (CPU_ISSET_S(cpu, sizeof(mask), &mask.set))
			cpuset_add(&cpus, cpu);
	*ret_cpus = cpus;
	return 0;
}

int affinity_set(pid_t pid, const struct cpuset *cpus)
{
	union mask mask = {.room = {0}};
	unsigned int cpu;

	cpuset_for_each(cpu, cpus)
		CPU_SET_S(cpu, sizeof(mask), &mask.set);
	return sched_setaffinity(pid, sizeof(mask), &mask.set) ? -errno : 0;
}

int affinity_pin(pid_t pid, unsigned int cpu)
{
	struct cpuset one = {0};

	if (cpu >= CPUSET_MAX)
		return -EINVAL;
	cpuset_add(&one, cpu);
	return affinity_set(pid, &one);
}

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
	/* CPUs of all isolated partitions; Linux 6.7 and later. */
	if (cgroup2[0] &&
	    snprintf(path, sizeof(path), "%s/cpuset.cpus.isolated", cgroup2) < (int)sizeof(path))
		add_list(root, path, ret_set);
}
