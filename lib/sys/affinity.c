/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Affinity masks as large as the kernel's. */
#include "sys/affinity.h"

#include <errno.h>
#include <sched.h>

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
