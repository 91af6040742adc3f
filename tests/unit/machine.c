/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the description of simulated machines: two architectures, and settings that differ between
 * CPUs.
 */
#include "test.h"
#include "tree.h"

#include "host/machine.h"

static const char xeon[] = "processor\t: 0\n"
			   "vendor_id\t: GenuineIntel\n"
			   "model\t\t: 85\n"
			   "model name\t: Intel(R) Xeon(R) Platinum 8170M CPU @ 2.10GHz\n"
			   "microcode\t: 0x2006e05\n"
			   "\n"
			   "processor\t: 1\n"
			   "model name\t: another\n";

static const char arm[] = "processor\t: 0\n"
			  "CPU implementer\t: 0x41\n"
			  "CPU architecture: 8\n"
			  "CPU variant\t: 0x3\n"
			  "CPU part\t: 0xd0c\n"
			  "CPU revision\t: 1\n";

static struct cpuset two(void)
{
	struct cpuset cpus = {0};

	cpuset_add(&cpus, 0);
	cpuset_add(&cpus, 5);
	return cpus;
}

TEST_WITH(test_x86, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct cpuset cpus = two();
	struct machine m;

	tree_file(tree, "/proc/cpuinfo", xeon);
	tree_file(tree, "/sys/devices/system/cpu/cpu0/power/energy_perf_bias", "6\n");
	tree_file(tree, "/sys/devices/system/cpu/cpu5/power/energy_perf_bias", "6\n");
	tree_file(tree, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
	tree_file(tree, "/sys/devices/system/cpu/cpu5/cpufreq/scaling_governor", "performance\n");
	tree_file(tree, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "intel_pstate\n");
	/* Three online CPUs in two packages; CPU 1 is a hyperthread of CPU 0. */
	tree_file(tree, "/sys/devices/system/cpu/online", "0-1,5\n");
	tree_file(tree, "/sys/devices/system/cpu/cpu0/topology/core_siblings_list", "0-1\n");
	tree_file(tree, "/sys/devices/system/cpu/cpu1/topology/core_siblings_list", "0-1\n");
	tree_file(tree, "/sys/devices/system/cpu/cpu5/topology/core_siblings_list", "5\n");
	tree_file(tree, "/sys/devices/system/cpu/smt/active", "1\n");
	machine_read(tree->root, &cpus, &m);
	assert_int_equal(m.sockets, 2);
	assert_int_equal(m.smt, 1);
	assert_string_equal(m.cpu_model, "Intel(R) Xeon(R) Platinum 8170M CPU @ 2.10GHz");
	assert_string_equal(m.microcode, "0x2006e05");
	assert_string_equal(m.energy_perf_bias, "6");
	assert_string_equal(m.cpufreq_governor, "mixed");
	/* One of the CPUs lacks the file with the cpufreq driver. */
	assert_string_equal(m.cpufreq_driver, "mixed");
	assert_string_equal(m.energy_perf_preference, "");
	assert_true(m.kernel[0] && m.host[0]);
}

TEST_WITH(test_arm64, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct cpuset cpus = two();
	struct machine m;

	machine_read(tree->root, &cpus, &m);
	assert_string_equal(m.cpu_model, "");
	/* Figures that cannot be read are unknown, not 0. */
	assert_int_equal(m.sockets, UINT32_MAX);
	assert_int_equal(m.smt, -1);
	tree_file(tree, "/proc/cpuinfo", arm);
	machine_read(tree->root, &cpus, &m);
	assert_string_equal(m.cpu_model, "implementer 0x41 part 0xd0c variant 0x3 revision 1");
	assert_string_equal(m.microcode, "");
}

TEST_MAIN()
