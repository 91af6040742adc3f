/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Place of each CPU: core, last-level cache, NUMA node and package. */
#ifndef SUBTICK_SYS_TOPOLOGY_H
#define SUBTICK_SYS_TOPOLOGY_H

#include <stdint.h>

#include "base/cpuset.h"

enum topology_level {
	TOPOLOGY_CPU,
	TOPOLOGY_CORE,
	TOPOLOGY_LLC,
	TOPOLOGY_NODE,
	TOPOLOGY_PACKAGE,
	TOPOLOGY_NR,
};

#define TOPOLOGY_UNKNOWN UINT32_MAX

struct topology_cpu {
	/* Numbers of the kernel. Numbers of cores may repeat in another package. */
	uint32_t id[TOPOLOGY_NR];
	/* Lowest CPU of the same core, cache, node or package: unique, and known if the id is not. */
	uint32_t first[TOPOLOGY_NR];
};

/*
 * Fills @cpus[0 … nr_cpus-1]. A file that is missing leaves TOPOLOGY_UNKNOWN, as do all files of an
 * offline CPU. A core and a cache have online CPUs only.
 */
void topology_read(const char *root, unsigned int nr_cpus, struct topology_cpu *ret_cpus);

/* CPUs of the same @level as @cpu; empty if that is unknown. */
void topology_group(const struct topology_cpu *cpus, unsigned int nr_cpus, enum topology_level level,
		    unsigned int cpu, struct cpuset *ret_cpus);

/* "core", "llc", … in the order of the levels, NULL-terminated. */
extern const char *const topology_names[];

#endif
