/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waits of groups: packed totals unpack unchanged, groups that came back are one. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "measure/runq/waits.h"

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

/* Two waits of @ns together. */
static void add(struct runq_waits_list *list, uint64_t key, const char *path, uint64_t ns,
		bool ended)
{
	struct runq_group *group = runq_group_new(&(struct runq_group){.key = key}, path);
	struct runq_totals totals = {0};
	struct err err = {0};

	totals.count[key] = 2;
	totals.cause_ns[RUNQ_SAME] = ns;
	totals.max_ns = ns;
	assert_non_null(group);
	assert_int_equal(runq_waits_add(list, group, ended, &totals, &err), 0);
	runq_group_put(group);
}

static void test_merge(void **state)
{
	struct runq_waits_list list = {0};
	struct runq_totals totals;

	(void)state;
	/* One that ended, and waited a last time under its old key. */
	add(&list, 7, "/a", 30, true);
	add(&list, 5, "/b", 40, false);
	add(&list, 7, "/a", 20, false);
	runq_waits_merge(&list);
	assert_int_equal(list.nr, 2);
	assert_string_equal(list.waits[0].group->path, "/a");
	assert_int_equal(list.waits[0].sum_ns, 50);
	assert_true(list.waits[0].ended);
	runq_unpack(list.waits[0].totals, &totals);
	assert_int_equal(runq_totals_count(&totals), 4);
	assert_int_equal(runq_totals_sum_ns(&totals), 50);
	assert_int_equal(totals.max_ns, 30);
	assert_string_equal(list.waits[1].group->path, "/b");
	assert_false(list.waits[1].ended);
	runq_waits_clear(&list);
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
