/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which CPUs a task may run on. Unlike cpu_set_t, not limited to 1,024 CPUs. */
#ifndef SUBTICK_SYS_AFFINITY_H
#define SUBTICK_SYS_AFFINITY_H

#include <sys/types.h>

#include "base/cpuset.h"

/* @pid 0: the calling thread. Both return 0 or -errno. */
int affinity_get(pid_t pid, struct cpuset *ret_cpus);
int affinity_set(pid_t pid, const struct cpuset *cpus);
/* Pins to one CPU. */
int affinity_pin(pid_t pid, unsigned int cpu);

#endif
