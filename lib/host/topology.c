/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the topology files of sysfs. */
#include "host/topology.h"

#include <stdio.h>
#include <string.h>

#include "host/cpu.h"
#include "host/file.h"

#define MAX_CACHES 16

const char *const topology_names[] = {"cpu", "core", "llc", "node", "package", NULL};

static uint32_t read_id(const char *root, const char *path)
{
	uint64_t id;

	/* The kernel writes -1 for an unknown number. */
	return sys_read_u64(root, path, &id) || id >= TOPOLOGY_UNKNOWN ? TOPOLOGY_UNKNOWN : (uint32_t)id;
}

static bool read_list(const char *root, const char *path, struct cpuset *ret_set)
{
	char text[4096];

	return sys_read_file(root, path, text, sizeof(text)) > 0 && !cpuset_parse(text, ret_set);
}

static uint32_t read_first(const char *root, const char *path)
{
	struct cpuset set;

	return read_list(root, path, &set) && cpuset_count(&set) ? cpuset_next(&set, 0) :
								    TOPOLOGY_UNKNOWN;
}

/* The cache of the highest level. */
static void read_llc(const char *root, unsigned int cpu, struct topology_cpu *ret)
{
	char path[128], type[32];
	uint64_t level, highest = 0;
	int dir, end;

	dir = snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cache/index", cpu);
	for (unsigned int i = 0; i < MAX_CACHES; i++) {
		end = dir + snprintf(path + dir, sizeof(path) - dir, "%u/", i);
		snprintf(path + end, sizeof(path) - end, "level");
		if (sys_read_u64(root, path, &level) || level <= highest)
			continue;
		snprintf(path + end, sizeof(path) - end, "type");
		if (sys_read_file(root, path, type, sizeof(type)) < 0 || !strcmp(type, "Instruction"))
			continue;
		highest = level;
		snprintf(path + end, sizeof(path) - end, "id");
		ret->id[TOPOLOGY_LLC] = read_id(root, path);
		snprintf(path + end, sizeof(path) - end, "shared_cpu_list");
		ret->first[TOPOLOGY_LLC] = read_first(root, path);
	}
}

static void read_nodes(const char *root, unsigned int nr_cpus, struct topology_cpu *cpus)
{
	struct cpuset nodes, members;
	unsigned int node, cpu;
	char path[96];

	/* Numbers of nodes have the same format. */
	if (!read_list(root, "/sys/devices/system/node/online", &nodes))
		return;
	cpuset_for_each(node, &nodes) {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist", node);
		if (!read_list(root, path, &members))
			continue;
		cpuset_for_each(cpu, &members)
			if (cpu < nr_cpus)
				cpus[cpu].id[TOPOLOGY_NODE] = node;
	}
}

/* The lowest CPU with the same id. */
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
	char path[96];

	memset(ret_cpus, 0xff, nr_cpus * sizeof(*ret_cpus)); /* TOPOLOGY_UNKNOWN in each */
	read_nodes(root, nr_cpus, ret_cpus);
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		struct topology_cpu *at = &ret_cpus[cpu];
		int package = cpu_package(root, cpu);
		int dir = snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/", cpu);

		at->id[TOPOLOGY_CPU] = at->first[TOPOLOGY_CPU] = cpu;
		snprintf(path + dir, sizeof(path) - dir, "core_id");
		at->id[TOPOLOGY_CORE] = read_id(root, path);
		snprintf(path + dir, sizeof(path) - dir, "core_cpus_list");
		at->first[TOPOLOGY_CORE] = read_first(root, path);
		read_llc(root, cpu, at);
		if (package >= 0)
			at->id[TOPOLOGY_PACKAGE] = package;
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
