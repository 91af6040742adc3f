/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests when a percentile in a sliding window reaches a limit. The expected result is computed from
 * the sorted values.
 */
#include "test.h"

#include "stats/quantile.h"

#define LIMIT	 500
#define MAX	 4000
#define NR_LOOKS 200

static uint64_t values[NR_LOOKS][MAX];
static size_t nr_values[NR_LOOKS];

static int by_size(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/*
 * True if the percentile reaches the limit. The percentile is the value at position ceil(nr * (1 -
 * above_ppm / 1000000)) of the nr sorted values.
 */
static bool reached(size_t first, size_t last, uint32_t above_ppm, size_t *ret_nr)
{
	static uint64_t all[NR_LOOKS * MAX];
	size_t nr = 0, rank;

	for (size_t i = first; i <= last; i++)
		for (size_t j = 0; j < nr_values[i]; j++)
			all[nr++] = values[i][j];
	*ret_nr = nr;
	if (nr * above_ppm < 1000000)
		return false;
	qsort(all, nr, sizeof(all[0]), by_size);
	rank = (nr * (1000000 - above_ppm) + 999999) / 1000000;
	return all[rank - 1] >= LIMIT;
}

static void against_sorting(uint32_t above_ppm, unsigned int seed, int *ret_reached, int *ret_not)
{
	struct percentile_watch watch = {.above_ppm = above_ppm};
	struct percentile_look now = {.ns = 1000}, window;

	srandom(seed);
	assert_false(percentile_watch_look(&watch, &now, &window));
	for (size_t look = 0; look < NR_LOOKS; look++) {
		/* Add random values. The share of values above LIMIT is close to @above_ppm. */
		size_t first = look < PERCENTILE_LOOKS ? 0 : look - PERCENTILE_LOOKS + 1, nr;
		uint64_t most = LIMIT * 1000000ULL / (1000000 - above_ppm) +
				(uint64_t)random() % 3 * above_ppm / 10000;
		bool is, should;

		nr_values[look] = (size_t)random() % 4 ? (size_t)random() % 60 : 0;
		for (size_t i = 0; i < nr_values[look]; i++) {
			values[look][i] = (uint64_t)random() % most;
			now.high += values[look][i] >= LIMIT;
		}
		now.values += nr_values[look];
		now.ns += 10;
		should = reached(first, look, above_ppm, &nr);
		is = percentile_watch_look(&watch, &now, &window);
		assert_int_equal(is, should);
		*(is ? ret_reached : ret_not) += 1;
		if (!is)
			continue;
		assert_int_equal(window.values, nr);
		assert_int_equal(window.ns, 10 * (look - first + 1));
	}
}

TEST(as_sorting_all_values)
{
	static const uint32_t above[] = {500000, 100000, 10000, 1000};

	for (size_t i = 0; i < sizeof(above) / sizeof(above[0]); i++) {
		int yes = 0, no = 0;

		for (unsigned int seed = 1; seed <= 10; seed++)
			against_sorting(above[i], seed, &yes, &no);
		assert_true(no > 100);
		/* A window has about 230 values, too few for a p99.9. */
		assert_int_equal(yes > 100, above[i] > 1000);
	}
}

TEST(one_value_of_a_hundred_is_above_p99)
{
	struct percentile_watch watch = {.above_ppm = 10000};
	struct percentile_look now = {0}, window;

	assert_false(percentile_watch_look(&watch, &now, &window));
	now = (struct percentile_look){.values = 99, .high = 99};
	assert_false(percentile_watch_look(&watch, &now, &window));
	now.values = 200;
	now.high = 99 + 2;
	assert_true(percentile_watch_look(&watch, &now, &window));
	/* Values that are older than ten reads of the counters do not count. */
	for (int i = 0; i < PERCENTILE_LOOKS; i++)
		percentile_watch_look(&watch, &now, &window);
	now.values += 100;
	now.high += 1;
	assert_false(percentile_watch_look(&watch, &now, &window));
	now.high += 1;
	assert_true(percentile_watch_look(&watch, &now, &window));
	assert_int_equal(window.values, 100);
	assert_int_equal(window.high, 2);
}

TEST_MAIN()
