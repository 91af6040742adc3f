/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests how the topology and the cores of simulated machines are read from sysfs. */
#include "test.h"
#include "tree.h"

#include "measure/load/cores.h"

static struct blocks memory;

#define NR_CPUS 8

static void put(const struct tree *tree, unsigned int cpu, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/%s", cpu, file);
	tree_file(tree, path, text);
}

/* Two packages of two cores. CPUs 4-7 are the siblings of CPUs 0-3. */
static void two_packages(const struct tree *tree)
{
	static const char *const cores[] = {"0,4\n", "1,5\n", "2,6\n", "3,7\n"};

	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
		put(tree, cpu, "topology/physical_package_id", cpu % 4 < 2 ? "0\n" : "1\n");
		/* The core numbers are the same in both packages. */
		put(tree, cpu, "topology/core_id", cpu % 2 ? "1\n" : "0\n");
		put(tree, cpu, "topology/core_cpus_list", cores[cpu % 4]);
		put(tree, cpu, "cache/index0/level", "1\n");
		put(tree, cpu, "cache/index0/type", "Data\n");
		put(tree, cpu, "cache/index0/shared_cpu_list", cores[cpu % 4]);
		put(tree, cpu, "cache/index1/level", "3\n");
		put(tree, cpu, "cache/index1/type", "Unified\n");
		put(tree, cpu, "cache/index1/id", cpu % 4 < 2 ? "0\n" : "1\n");
		put(tree, cpu, "cache/index1/shared_cpu_list", cpu % 4 < 2 ? "0-1,4-5\n" : "2-3,6-7\n");
	}
	tree_file(tree, "/sys/devices/system/node/online", "0-1\n");
	tree_file(tree, "/sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
	tree_file(tree, "/sys/devices/system/node/node1/cpulist", "2-3,6-7\n");
}

static int find(const struct tree *tree, struct load_cores *cores, struct err *err)
{
	*err = (struct err){0};
	load_cores_open(cores, &memory, tree->root, NR_CPUS);
	return load_cores_find(cores, err);
}

static void expect_group(const struct load_cores *cores, enum topology_level level, unsigned int cpu,
			 const char *expected)
{
	struct cpuset set;
	char text[64];

	topology_group(cores->topology, NR_CPUS, level, cpu, &set);
	cpuset_format(&set, text, sizeof(text));
	assert_string_equal(text, expected);
}

TREE_TEST(smt_with_two_packages)
{
	struct load_cores cores;
	struct err err;

	two_packages(tree);
	assert_int_equal(find(tree, &cores, &err), 0);
	assert_int_equal(cores.nr, 4);
	assert_int_equal(cores.list[3].package, 1);
	assert_int_equal(cores.list[3].core, 1);
	assert_int_equal(cores.list[3].cpu[0], 3);
	assert_int_equal(cores.list[3].cpu[1], 7);
	assert_int_equal(cores.siblings[6], 2);
	assert_int_equal(cores.topology[6].id[TOPOLOGY_LLC], 1);
	assert_int_equal(cores.topology[6].id[TOPOLOGY_NODE], 1);
	expect_group(&cores, TOPOLOGY_CORE, 6, "2,6");
	expect_group(&cores, TOPOLOGY_LLC, 6, "2-3,6-7");
	expect_group(&cores, TOPOLOGY_NODE, 1, "0-1,4-5");
	expect_group(&cores, TOPOLOGY_PACKAGE, 1, "0-1,4-5");
	blocks_free(&memory);
}

TREE_TEST(no_smt)
{
	struct load_cores cores;
	struct err err;

	two_packages(tree);
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++)
		put(tree, cpu, "topology/core_cpus_list", (const char[]){'0' + cpu, '\0'});
	assert_int_equal(find(tree, &cores, &err), -ENODEV);
	assert_true(err.unsupported);
	blocks_free(&memory);
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++)
		put(tree, cpu, "topology/core_cpus_list", cpu < 4 ? "0-3\n" : "4-7\n");
	assert_int_equal(find(tree, &cores, &err), -E2BIG);
	blocks_free(&memory);
}

/* An offline CPU has no topology files and is in no list of siblings. */
TREE_TEST(offline_sibling)
{
	struct load_cpu_window cpus[NR_CPUS] = {0};
	struct load_cores cores;
	struct err err;

	two_packages(tree);
	tree_remove(tree, "/sys/devices/system/cpu/cpu5/topology/core_cpus_list");
	put(tree, 1, "topology/core_cpus_list", "1\n");
	assert_int_equal(find(tree, &cores, &err), 0);
	assert_int_equal(cores.nr, 4);
	assert_int_equal(cores.list[1].cpu[1], 1);
	assert_int_equal(cores.siblings[1], 1);
	assert_int_equal(cores.siblings[5], 5);
	expect_group(&cores, TOPOLOGY_CORE, 5, "");
	/*
	 * CPU 5 is online again. The BPF programs have not stored the sibling of CPU 5, so the core
	 * has no load value.
	 */
	put(tree, 1, "topology/core_cpus_list", "1,5\n");
	put(tree, 5, "topology/core_cpus_list", "1,5\n");
	cores.states[1].cur.now_ns = cores.states[2].cur.now_ns = 1000;
	load_cores_window(&cores, cpus);
	assert_int_equal(cores.list[1].flags, 0);
	assert_false(cores.grown);
	cpus[5].flags = LOAD_HOTPLUGGED;
	load_cores_window(&cores, cpus);
	assert_int_equal(cores.list[1].flags, LOAD_HOTPLUGGED);
	assert_true(cores.grown);
	assert_int_equal(cores.list[2].flags, 0);
	blocks_free(&memory);
}

TREE_TEST(missing_files)
{
	struct load_cores cores;
	struct err err;

	put(tree, 0, "topology/physical_package_id", "-1\n");
	put(tree, 0, "cache/index0/level", "2\n");
	put(tree, 0, "cache/index0/type", "Unified\n");
	put(tree, 0, "cache/index0/shared_cpu_list", "0-1\n");
	assert_int_equal(find(tree, &cores, &err), -ENOENT);
	for (int level = TOPOLOGY_CORE; level < TOPOLOGY_NR; level++)
		assert_int_equal(cores.topology[0].id[level], TOPOLOGY_UNKNOWN);
	/* A cache whose ID is missing in sysfs still has a list of CPUs. */
	assert_int_equal(cores.topology[0].first[TOPOLOGY_LLC], 0);
	assert_int_equal(cores.topology[1].first[TOPOLOGY_LLC], TOPOLOGY_UNKNOWN);
	expect_group(&cores, TOPOLOGY_PACKAGE, 0, "");
	blocks_free(&memory);
}

TEST_MAIN()
