/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests tables of series: rows and copies keep their values while rows come and go. */
#include "view/series.h"

#include "test.h"
#include "tests/random.h"

#define NR_NAMES 200

static struct {
	char value[24];
	struct series_row *row; /* row of the table, or NULL if the row does not exist */
	uint64_t count, sum;
} truth[NR_NAMES];

static uint64_t random_state = 88172645463325252ULL;

static uint64_t below(uint64_t end)
{
	return xorshift64(&random_state) % end;
}

/* Each row is a member of a larger struct of the caller. */
struct numbered_row {
	int number;
	struct series_row row;
};

static int number_of(const struct series_row *row)
{
	return ((const struct numbered_row *)((const char *)row -
					      offsetof(struct numbered_row, row)))
		->number;
}

/* Two successive rows have the same key and different labels. */
static uint64_t key_of(int i)
{
	return (uint64_t)(i / 2) << 40;
}

static void check(const struct series_table *t)
{
	size_t there = 0;

	for (int i = 0; i < NR_NAMES; i++) {
		struct series_row *row = series_find(t, key_of(i), truth[i].value);

		assert_ptr_equal(row, truth[i].row);
		if (!row)
			continue;
		there++;
		assert_ptr_equal(t->rows[row->index], row);
		assert_int_equal(number_of(row), i);
		assert_string_equal(labels_next(labels_first(row->labels)), truth[i].value);
		assert_int_equal(row->words[0].u64, truth[i].count);
		assert_int_equal(row->words[3].u64, truth[i].sum);
	}
	assert_int_equal(t->nr, there);
}

static void add(struct series_table *t, int i)
{
	struct series_row *row = series_find(t, key_of(i), truth[i].value);

	if (!row) {
		row = series_add(t, key_of(i), &(struct label)LABEL("cgroup", truth[i].value), 1);
		assert_non_null(row);
		((struct numbered_row *)((char *)row - offsetof(struct numbered_row, row)))
			->number = i;
	}
	truth[i].row = row;
	row->words[0].u64++;
	row->words[3].u64 += i;
	truth[i].count++;
	truth[i].sum += i;
}

static struct series_table table_of(int nr)
{
	memset(truth, 0, sizeof(truth));
	for (int i = 0; i < nr; i++)
		snprintf(truth[i].value, sizeof(truth[i].value), "/%d", i);
	return (struct series_table){.head = offsetof(struct numbered_row, row), .width = 4};
}

/*
 * The values of a row that is removed and added again begin at 0. Removing a row changes no other
 * row.
 */
TEST(test_come_and_go)
{
	struct series_table t = table_of(NR_NAMES);

	check(&t);
	for (int step = 0; step < 20000; step++) {
		int i = (int)below(NR_NAMES);

		if (below(3) && truth[i].row) {
			series_remove(&t, truth[i].row);
			truth[i].row = NULL;
			truth[i].count = truth[i].sum = 0;
		} else {
			add(&t, i);
		}
		if (step % 50 == 0) {
			check(&t);
			series_reclaim(&t);
		}
	}
	series_free(&t);
}

TEST(test_copy)
{
	struct series_table t = table_of(40), copy = {0};

	for (int i = 0; i < 40; i++)
		add(&t, i);
	assert_int_equal(series_copy(&copy, &t), 0);
	for (int i = 0; i < 40; i++)
		add(&t, i);
	assert_true(series_set_names(&t, t.rows[0], &(struct label)LABEL("pod", "web"), 1));
	assert_false(series_set_names(&t, t.rows[0], &(struct label)LABEL("pod", "web"), 1));
	while (t.nr > 3)
		series_remove(&t, t.rows[0]);
	assert_int_equal(copy.nr, 40);
	for (int i = 0; i < 40; i++) {
		assert_string_equal(labels_next(labels_first(copy.rows[i]->labels)), truth[i].value);
		assert_null(copy.rows[i]->names);
		assert_int_equal(copy.rows[i]->words[0].u64, 1);
		assert_int_equal(copy.rows[i]->words[3].u64, i);
	}
	/* A copy of a table reuses the memory of an earlier copy that had more rows. */
	assert_int_equal(series_copy(&copy, &t), 0);
	assert_int_equal(copy.nr, 3);
	series_copy_free(&copy);
	series_free(&t);
}

TEST_MAIN()
