/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is kept of groups: packed totals come back as they were, groups that came back are one. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "measure/runq/groups.h"

#define WORDS (sizeof(struct runq_totals) / sizeof(uint64_t))

/* Every @step-th word of the totals is not 0. */
static void fill(struct runq_totals *totals, size_t step, uint64_t seed)
{
	uint64_t words[WORDS] = {0};

	for (size_t i = 0; step && i < WORDS; i += step)
		words[i] = seed * (i + 1);
	memcpy(totals, words, sizeof(words));
}

static void test_pack(void **state)
{
	static const size_t steps[] = {0, 1, 2, 3, 63, 64, 65, WORDS - 1};

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct runq_totals was, is;
		struct runq_packed *packed;

		fill(&was, steps[i], UINT64_MAX / WORDS);
		memset(&is, 0xff, sizeof(is));
		packed = runq_pack(&was);
		assert_non_null(packed);
		runq_unpack(packed, &is);
		assert_memory_equal(&was, &is, sizeof(was));
		free(packed);
	}
}

static void test_unpack_nothing(void **state)
{
	struct runq_totals totals;

	(void)state;
	memset(&totals, 0xff, sizeof(totals));
	runq_unpack(NULL, &totals);
	assert_int_equal(runq_totals_count(&totals), 0);
	assert_int_equal(runq_totals_sum_ns(&totals), 0);
	assert_int_equal(runq_totals_max_ns(&totals), 0);
}

static struct runq_group *group_new(uint64_t key, const char *path, uint64_t ns, bool ended)
{
	struct runq_group *group = calloc(1, sizeof(*group));
	struct runq_totals totals = {0};

	totals.count[key] = 2;
	totals.cause_ns[RUNQ_SAME] = ns;
	totals.max_ns = ns;
	group->key = key;
	group->path = strdup(path);
	group->sum_ns = ns;
	group->ended = ended;
	group->waits = runq_pack(&totals);
	return group;
}

static void test_merge(void **state)
{
	struct runq_group **groups = NULL;
	struct runq_totals totals;
	struct err err = {0};
	size_t nr = 0;

	(void)state;
	/* One that ended, and waited a last time under its old key. */
	assert_int_equal(runq_groups_keep(&groups, &nr, group_new(7, "/a", 30, true), &err), 0);
	assert_int_equal(runq_groups_keep(&groups, &nr, group_new(5, "/b", 40, false), &err), 0);
	assert_int_equal(runq_groups_keep(&groups, &nr, group_new(7, "/a", 20, false), &err), 0);
	nr = runq_groups_merge(groups, nr);
	assert_int_equal(nr, 2);
	assert_string_equal(groups[0]->path, "/a");
	assert_int_equal(groups[0]->sum_ns, 50);
	assert_true(groups[0]->ended);
	runq_unpack(groups[0]->waits, &totals);
	assert_int_equal(runq_totals_count(&totals), 4);
	assert_int_equal(runq_totals_sum_ns(&totals), 50);
	assert_int_equal(totals.max_ns, 30);
	assert_string_equal(groups[1]->path, "/b");
	assert_false(groups[1]->ended);
	runq_groups_free(groups, nr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pack),
		cmocka_unit_test(test_unpack_nothing),
		cmocka_unit_test(test_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
