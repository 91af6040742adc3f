/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the topology files of sysfs. */
#include "host/topology.h"

#include <string.h>

#include "host/cpu.h"
#include "host/file.h"

#define MAX_CACHES 16
#define CPU_DIR	   "/sys/devices/system/cpu/cpu%u"
#define NODE_DIR   "/sys/devices/system/node"

const char *const topology_names[] = {"cpu", "core", "llc", "node", "package", NULL};

/* The kernel writes -1 for an unknown core, node or package number. */
static uint32_t read_id(const char *root, const char *path)
{
	uint64_t id;

	return sys_read_u64(root, path, &id) || id >= TOPOLOGY_UNKNOWN ? TOPOLOGY_UNKNOWN : (uint32_t)id;
}

static uint32_t read_first(const char *root, const char *path)
{
	struct cpuset set;

	return !cpu_list_read(root, path, &set) && cpuset_count(&set) ? cpuset_next(&set, 0)
								       : TOPOLOGY_UNKNOWN;
}

/* Reads the id and the lowest CPU of the last-level cache, ignoring instruction caches. */
static void read_llc(const char *root, unsigned int cpu, struct topology_cpu *ret)
{
#define CACHE_FILE(name) SYS_PATH(CPU_DIR "/cache/index%u/" name, cpu, i)
	uint64_t level, highest = 0;
	char type[32];

	for (unsigned int i = 0; i < MAX_CACHES; i++) {
		if (sys_read_u64(root, CACHE_FILE("level"), &level) || level <= highest ||
		    sys_read_file(root, CACHE_FILE("type"), type, sizeof(type)) < 0 ||
		    !strcmp(type, "Instruction"))
			continue;
		highest = level;
		ret->id[TOPOLOGY_LLC] = read_id(root, CACHE_FILE("id"));
		ret->first[TOPOLOGY_LLC] = read_first(root, CACHE_FILE("shared_cpu_list"));
	}
#undef CACHE_FILE
}

static void read_nodes(const char *root, unsigned int nr_cpus, struct topology_cpu *cpus)
{
	struct cpuset nodes, members;

	/* The kernel's list of NUMA nodes has the format of a CPU list. */
	if (cpu_list_read(root, NODE_DIR "/online", &nodes))
		return;
	cpuset_for_each(node, &nodes) {
		if (cpu_list_read(root, SYS_PATH(NODE_DIR "/node%u/cpulist", node), &members))
			continue;
		cpuset_for_each(cpu, &members)
			if (cpu < nr_cpus)
				cpus[cpu].id[TOPOLOGY_NODE] = node;
	}
}

/* Sets cpus[cpu].first[level] to the lowest CPU with the same id (core, cache, node or package). */
static void find_first(struct topology_cpu *cpus, unsigned int cpu, enum topology_level level)
{
	unsigned int other = 0;

	while (cpus[other].id[level] != cpus[cpu].id[level])
		other++;
	if (cpus[cpu].id[level] != TOPOLOGY_UNKNOWN)
		cpus[cpu].first[level] = other;
}

void topology_read(const char *root, unsigned int nr_cpus, struct topology_cpu *ret_cpus)
{
	/* sets all members of @ret_cpus to TOPOLOGY_UNKNOWN */
	memset(ret_cpus, 0xff, nr_cpus * sizeof(*ret_cpus));
	read_nodes(root, nr_cpus, ret_cpus);
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		struct topology_cpu *at = &ret_cpus[cpu];

		at->id[TOPOLOGY_CPU] = at->first[TOPOLOGY_CPU] = cpu;
		at->id[TOPOLOGY_CORE] = read_id(root, SYS_PATH(CPU_DIR "/topology/core_id", cpu));
		at->first[TOPOLOGY_CORE] =
			read_first(root, SYS_PATH(CPU_DIR "/topology/core_cpus_list", cpu));
		read_llc(root, cpu, at);
		at->id[TOPOLOGY_PACKAGE] = cpu_package(root, cpu);
		find_first(ret_cpus, cpu, TOPOLOGY_NODE);
		find_first(ret_cpus, cpu, TOPOLOGY_PACKAGE);
	}
}

void topology_group(const struct topology_cpu *cpus, unsigned int nr_cpus, enum topology_level level,
		    unsigned int cpu, struct cpuset *ret_cpus)
{
	uint32_t first = cpus[cpu].first[level];

	*ret_cpus = (struct cpuset){0};
	for (unsigned int i = 0; i < nr_cpus && first != TOPOLOGY_UNKNOWN; i++)
		if (cpus[i].first[level] == first)
			cpuset_add(ret_cpus, i);
}
