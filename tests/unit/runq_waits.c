/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of a window: a group that ended and waited again has one row. */
#include "test.h"

#include "measure/runq/waits.h"

/* Two waits of @ns together. */
static void add(struct runq_waits_list *list, uint64_t key, const char *path, uint64_t ns,
		bool ended)
{
	struct runq_group *group = runq_group_new(&(struct runq_group){.key = key}, path);
	struct hist_entry entry = {.bucket = key, .count = 2};
	struct runq_group_window row = {.party = runq_party_of(key, group),
					.ended = ended,
					.count = 2,
					.sum_ns = ns,
					.max_ns = ns,
					.cause_ns = {[RUNQ_SAME] = ns},
					.avoidable_ns = ns / 2,
					.avoidable_most_ns = ns,
					.excluded_ns = ns * 2,
					.idle_cpu = ns,
					.excluded_cpu = ns + 1};
	struct err err = {0};

	assert_non_null(group);
	assert_int_equal(hist_set(&row.hist, &(struct hist){&entry, 1}), 0);
	assert_int_equal(runq_waits_append(list, row, &err), 0);
	runq_group_put(group);
}

TEST(test_merge)
{
	struct runq_waits_list list = {0};
	(void)state;
	/* A group that ended waited a last time under its old key. */
	add(&list, 7, "/a", 30, true);
	add(&list, 5, "/b", 40, false);
	add(&list, 7, "/a", 20, false);
	runq_waits_merge(&list);
	assert_int_equal(list.nr, 2);
	assert_string_equal(list.rows[0].party.group->path, "/a");
	assert_int_equal(list.rows[0].sum_ns, 50);
	assert_true(list.rows[0].ended);
	assert_int_equal(list.rows[0].count, 4);
	assert_int_equal(list.rows[0].hist.nr, 1);
	assert_int_equal(list.rows[0].hist.entries[0].count, 4);
	assert_int_equal(list.rows[0].cause_ns[RUNQ_SAME], 50);
	assert_int_equal(list.rows[0].avoidable_ns, 25);
	assert_int_equal(list.rows[0].avoidable_most_ns, 50);
	assert_int_equal(list.rows[0].excluded_ns, 100);
	assert_int_equal(list.rows[0].excluded_cpu, list.rows[0].idle_cpu + 1);
	assert_int_equal(list.rows[0].max_ns, 30);
	assert_string_equal(list.rows[1].party.group->path, "/b");
	assert_false(list.rows[1].ended);
	runq_waits_clear(&list);
}

TEST_MAIN()
