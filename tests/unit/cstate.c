/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The residency counters of a machine that has them, and of one that does not. */
#include "test.h"
#include "tree.h"

#include "sys/cstate.h"

#define DIR "/sys/bus/event_source/devices/cstate_core"

TEST_WITH(test_list, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct perf_event events[CSTATE_MAX];

	assert_int_equal(cstate_list(tree->root, events), 0);
	tree_file(tree, DIR "/type", "21\n");
	assert_int_equal(cstate_list(tree->root, events), 0);
	/* The files of a Skylake server. */
	tree_file(tree, DIR "/events/c1-residency", "event=0x00\n");
	tree_file(tree, DIR "/events/c6-residency", "event=0x02\n");
	tree_file(tree, DIR "/events/c7-residency", "not an event\n");
	assert_int_equal(cstate_list(tree->root, events), 2);
	assert_string_equal(events[0].name, "C1");
	assert_string_equal(events[1].name, "C6");
	assert_int_equal(events[1].type, 21);
	assert_int_equal(events[1].config, 2);
}

TEST_MAIN()
