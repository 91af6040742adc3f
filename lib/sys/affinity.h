/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CPUs that a task may use, and isolated CPUs. Not limited to 1,024 CPUs, unlike cpu_set_t. */
#ifndef SUBTICK_SYS_AFFINITY_H
#define SUBTICK_SYS_AFFINITY_H

#include <sys/types.h>

#include "base/cpuset.h"

/* @pid 0: the calling thread. Both return 0 or -errno. */
int affinity_get(pid_t pid, struct cpuset *ret_cpus);
int affinity_set(pid_t pid, const struct cpuset *cpus);
/* Pins to one CPU. */
int affinity_pin(pid_t pid, unsigned int cpu);

/*
 * All CPUs of nohz_full=, isolcpus= and isolated cpuset partitions. @cgroup2 is where the unified
 * hierarchy is mounted, "" if it is not. @root as in sys/file.h. Empty if there are none.
 */
void isolated_cpus(const char *root, const char *cgroup2, struct cpuset *ret_set);

#endif
