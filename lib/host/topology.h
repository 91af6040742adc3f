/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Core, last-level cache, NUMA node and package of each CPU. */
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
	/* numbers that the kernel reports; a core number is unique only within its package */
	uint32_t id[TOPOLOGY_NR];
	/* lowest CPU of the core, cache, node or package; this number is unique on the machine */
	uint32_t first[TOPOLOGY_NR];
};

/*
 * Fills @ret_cpus[0 … nr_cpus-1]. A number is TOPOLOGY_UNKNOWN if its sysfs file is missing, as
 * for an offline CPU.
 */
void topology_read(const char *root, unsigned int nr_cpus, struct topology_cpu *ret_cpus);

/* CPUs that share the @level with @cpu; an empty set if the level is unknown. */
void topology_group(const struct topology_cpu *cpus, unsigned int nr_cpus, enum topology_level level,
		    unsigned int cpu, struct cpuset *ret_cpus);

/* Names of the topology levels: "cpu", "core", "llc", "node", "package", NULL. */
extern const char *const topology_names[];

#endif
