/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Residency counters of real machines, and the counter of each idle state. */
#include "test.h"
#include "tree.h"

#include "measure/wake/depth.h"

#define CORE	"/sys/bus/event_source/devices/cstate_core"
#define PACKAGE "/sys/bus/event_source/devices/cstate_pkg"

TEST_WITH(test_list, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct perf_event events[CSTATE_MAX];

	assert_int_equal(cstate_list(tree->root, false, events), 0);
	tree_file(tree, CORE "/type", "21\n");
	assert_int_equal(cstate_list(tree->root, false, events), 0);
	/* The files of a Skylake server. */
	tree_file(tree, CORE "/events/c1-residency", "event=0x00\n");
	tree_file(tree, CORE "/events/c6-residency", "event=0x02\n");
	tree_file(tree, CORE "/events/c7-residency", "not an event\n");
	assert_int_equal(cstate_list(tree->root, false, events), 2);
	assert_string_equal(events[0].name, "C1");
	assert_string_equal(events[1].name, "C6");
	assert_int_equal(events[1].types[0], 21);
	assert_int_equal(events[1].config, 2);
	assert_int_equal(cstate_list(tree->root, true, events), 0);
	tree_file(tree, PACKAGE "/type", "22\n");
	tree_file(tree, PACKAGE "/events/c2-residency", "event=0x00\n");
	tree_file(tree, PACKAGE "/events/c6-residency", "event=0x02\n");
	assert_int_equal(cstate_list(tree->root, true, events), 2);
	assert_string_equal(events[1].name, "PC6");
	assert_int_equal(events[1].types[0], 22);
}

/* Names and descriptions as the kernel's drivers give them. */
TEST(test_numbers)
{
	assert_int_equal(cstate_number("intel_idle", "C1", "MWAIT 0x00"), 1);
	assert_int_equal(cstate_number("intel_idle", "C1E", "MWAIT 0x01"), 1);
	assert_int_equal(cstate_number("intel_idle", "C6SP", "MWAIT 0x23"), 6);
	assert_int_equal(cstate_number("intel_idle", "C10", "MWAIT 0x60"), 10);
	/* An MWAIT hint of an Atom means another state than on a Core, so the name decides. */
	assert_int_equal(cstate_number("intel_idle", "C6", "MWAIT 0x58"), 6);
	/* Numbers in ACPI names are chosen by the firmware and mean nothing here. */
	assert_int_equal(cstate_number("intel_idle", "C2_ACPI", "ACPI FFH MWAIT 0x20"), 6);
	assert_int_equal(cstate_number("acpi_idle", "C2", "ACPI FFH MWAIT 0x10"), 3);
	assert_int_equal(cstate_number("acpi_idle", "C2", "ACPI IOPORT 0x814"), -1);
	assert_int_equal(cstate_number("intel_idle", "POLL", "CPUIDLE CORE POLL IDLE"), -1);
	assert_int_equal(cstate_number("psci_idle", "deep-sleep", "deep-sleep"), -1);
}

TEST(test_counters)
{
	struct cstate_set set = {
		.nr = 5, .number = {1, 3, 6, 7, 6}, .package = {false, false, false, false, true}};

	assert_int_equal(cstate_counter(&set, 6), 2);
	assert_int_equal(cstate_counter(&set, 1), 0);
	/* C7's counter also runs in C8 and deeper. */
	assert_int_equal(cstate_counter(&set, 10), 3);
	set.nr = 2;
	/* C3's does not run in C6. */
	assert_int_equal(cstate_counter(&set, 6), -1);
	set.nr = 0;
	assert_int_equal(cstate_counter(&set, 1), -1);
}

TEST_MAIN()
