/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which CPUs the machine keeps free for certain tasks. */
#ifndef SUBTICK_SYS_ISOLATED_H
#define SUBTICK_SYS_ISOLATED_H

#include "base/cpuset.h"

/*
 * All CPUs of nohz_full=, isolcpus= and isolated cpuset partitions. @cgroup2 is where the unified
 * hierarchy is mounted, "" if it is not. @root as in sys/file.h. Empty if there are none.
 */
void isolated_cpus(const char *root, const char *cgroup2, struct cpuset *ret_set);

#endif
