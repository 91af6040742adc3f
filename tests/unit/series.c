/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Series by label: whatever comes and goes, each keeps its own figures, and copies keep theirs. */
#include "report/series.h"

#include "test.h"

#define NR_NAMES 200

/* What the table must hold, the plainest way. */
static struct {
	char labels[24];
	bool there;
	uint64_t count, sum;
} truth[NR_NAMES];

static const uint64_t le[] = {10, 100};
static uint64_t random_state = 88172645463325252ULL;

static uint64_t below(uint64_t end)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % end;
}

static void check(const struct series *s)
{
	size_t there = 0;

	for (int i = 0; i < NR_NAMES; i++) {
		size_t row = series_find(s, truth[i].labels);

		there += truth[i].there;
		if (!truth[i].there) {
			assert_true(row == SERIES_NONE);
			continue;
		}
		assert_true(row < s->nr);
		assert_string_equal(s->labels[row], truth[i].labels);
		assert_int_equal(series_words(s, row)[0].u64, truth[i].count);
		assert_int_equal(series_words(s, row)[3].u64, truth[i].sum);
	}
	assert_int_equal(s->nr, there);
}

static void add(struct series *s, int i)
{
	size_t row = series_row(s, truth[i].labels);

	assert_true(row != SERIES_NONE);
	series_words(s, row)[0].u64++;
	series_words(s, row)[3].u64 += i;
	truth[i].there = true;
	truth[i].count++;
	truth[i].sum += i;
}

/* A name that comes back begins at 0, and nobody else is touched by its going. */
TEST(test_come_and_go)
{
	struct series s;

	memset(truth, 0, sizeof(truth));
	assert_int_equal(series_init(&s, F_RUNQ, le, 2), 0);
	assert_int_equal(s.width, 4);
	for (int i = 0; i < NR_NAMES; i++)
		snprintf(truth[i].labels, sizeof(truth[i].labels), "cgroup=\"/%d\"", i);
	check(&s);
	for (int step = 0; step < 20000; step++) {
		int i = (int)below(NR_NAMES);

		if (below(3) && truth[i].there) {
			series_remove(&s, series_find(&s, truth[i].labels));
			truth[i].there = false;
			truth[i].count = truth[i].sum = 0;
		} else {
			add(&s, i);
		}
		if (step % 50 == 0) {
			check(&s);
			series_bury(&s);
		}
	}
	series_free(&s);
}

/* A copy is of its moment: what happens to the original afterwards does not show. */
TEST(test_copy)
{
	struct series s, copy = {0};

	memset(truth, 0, sizeof(truth));
	assert_int_equal(series_init(&s, F_RUNQ, le, 2), 0);
	for (int i = 0; i < 40; i++) {
		snprintf(truth[i].labels, sizeof(truth[i].labels), "cgroup=\"/%d\"", i);
		add(&s, i);
	}
	assert_int_equal(series_copy(&copy, &s), 0);
	for (int i = 0; i < 40; i++)
		add(&s, i);
	while (s.nr > 3)
		series_remove(&s, 0);
	assert_int_equal(copy.nr, 40);
	assert_int_equal(copy.nr_le, 2);
	assert_ptr_equal(copy.family, family_get(F_RUNQ));
	for (int i = 0; i < 40; i++) {
		assert_string_equal(copy.labels[i], truth[i].labels);
		assert_int_equal(series_words(&copy, i)[0].u64, 1);
		assert_int_equal(series_words(&copy, i)[3].u64, i);
	}
	/* Fewer now: the room of the copy is used again. */
	assert_int_equal(series_copy(&copy, &s), 0);
	assert_int_equal(copy.nr, 3);
	series_copy_free(&copy);
	series_free(&s);
}

TEST_MAIN()
