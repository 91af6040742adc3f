/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests which names of perf events subtick accepts, and which PMUs of a machine have an event. */
#include "test.h"

#include <linux/perf_event.h>

#include "host/perf.h"
#include "tree.h"

#define PMUS "/sys/bus/event_source/devices/"

TEST(names)
{
	static const char *const bad[] = {
		"", "r", "r-1", "r 1", "r0x11", "r11g", "nosuch", "Cycles", "r11111111111111111"};
	struct perf_event event;

	assert_int_equal(perf_event_find(NULL, "cycles", &event, NULL), 0);
	assert_int_equal(event.types[0], PERF_TYPE_HARDWARE);
	assert_int_equal(event.config, PERF_COUNT_HW_CPU_CYCLES);
	/* The rate of event cpu-cycles changes with the core's frequency. */
	assert_false(event.constant);
	assert_int_equal(perf_event_find(NULL, "ref-cycles", &event, NULL), 0);
	assert_true(event.constant);
	assert_int_equal(perf_event_find(NULL, "r4004", &event, NULL), 0);
	assert_int_equal(event.types[0], PERF_TYPE_RAW);
	assert_int_equal(event.config, 0x4004);
	assert_false(event.constant);
	assert_int_equal(perf_event_find(NULL, "rffffffffffffffff", &event, NULL), 0);
	assert_true(event.config == UINT64_MAX);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err err = {0};

		assert_int_equal(perf_event_find(NULL, bad[i], &event, &err), -EINVAL);
		assert_false(err.unsupported);
	}
}

TREE_TEST(pmus)
{
	uint32_t types[PERF_MAX_PMUS], sum = 0;

	assert_int_equal(perf_pmu_types(tree->root, "armv8_", "cnt_cycles", types), 0);
	tree_file(tree, PMUS "armv8_cortex_a53/type", "8\n");
	tree_file(tree, PMUS "armv8_cortex_a53/events/cpu_cycles", "event=0x0011\n");
	assert_int_equal(perf_pmu_types(tree->root, "armv8_", "cnt_cycles", types), 0);
	tree_file(tree, PMUS "armv8_cortex_a510/type", "9\n");
	tree_file(tree, PMUS "armv8_cortex_a510/events/cnt_cycles", "event=0x4004\n");
	tree_file(tree, PMUS "armv8_cortex_x3/type", "10\n");
	tree_file(tree, PMUS "armv8_cortex_x3/events/cnt_cycles", "event=0x4004\n");
	tree_file(tree, PMUS "arm_dsu_0/type", "11\n");
	tree_file(tree, PMUS "arm_dsu_0/events/cnt_cycles", "event=0x4004\n");
	assert_int_equal(perf_pmu_types(tree->root, "armv8_", "cnt_cycles", types), 2);
	for (int i = 0; i < 2; i++)
		sum += types[i];
	assert_int_equal(sum, 19);
	tree_file(tree, PMUS "armv8_cortex_x3/type", "x\n");
	assert_int_equal(perf_pmu_types(tree->root, "armv8_", "cnt_cycles", types), 1);
	assert_int_equal(types[0], 9);
}

TEST_MAIN()
