/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the calculations of `subtick audit` on a simulated kernel that rounds like Linux. */
#include "test.h"
#include "tests/random.h"

#include <math.h>

#include "stats/audit.h"
#include "host/procstat.h"

#define MS 1000000ULL

/* Simulates tick accounting: a whole tick is charged to one column, in units of 1/100 s. */
struct tick_accounting {
	uint64_t tick_ns, offset_ns;
	uint64_t col_ns[2];
	uint64_t ticks;
};

/* Initializes @edges and reads the columns every 20 µs. Each tick is charged to one of two columns. */
static void watch(struct counter_edges *edges, struct tick_accounting *a, unsigned int hz,
		  uint64_t length_ns, double share, uint64_t jitter_ns)
{
	uint64_t random = 42, shown[2], next;

	counter_edges_init(edges, 3);
	a->tick_ns = tick_fit_tick_ns(hz);
	next = a->offset_ns;
	for (uint64_t now = 0; now < length_ns; now += 20000) {
		while (next <= now) {
			a->col_ns[lcg64(&random) % 1000 >= share * 1000] += a->tick_ns;
			next += a->tick_ns;
		}
		for (int i = 0; i < 2; i++)
			shown[i] = a->col_ns[i] / (10 * MS);
		counter_edges_feed(edges, shown, 2,
				   1000000000000000ULL + now +
					   (jitter_ns ? lcg64(&random) % jitter_ns : 0),
				   false);
	}
}

TEST(increments)
{
	uint64_t cols[4] = {1, 2, 3, 4};
	struct counter_edges edges;

	counter_edges_init(&edges, 0x5); /* bit mask of the watched columns 0 and 2 */
	assert_false(counter_edges_feed(&edges, cols, 4, 10, false));
	assert_false(counter_edges_feed(&edges, cols, 4, 20, false));
	cols[1]++;
	assert_false(counter_edges_feed(&edges, cols, 4, 30, false));
	cols[2]++;
	assert_true(counter_edges_feed(&edges, cols, 4, 40, false));
	/* A column such as iowait may decrease, and must not hide an increase of another column. */
	cols[0]--;
	cols[2]++;
	assert_true(counter_edges_feed(&edges, cols, 4, 70, false));
	assert_int_equal(edges.nr, 2);
	assert_int_equal(edges.nr_intervals, 1);
	assert_int_equal(edges.intervals[0], 30);
	/*
	 * After a delayed read two values are unknown: the time of the change, and the length of
	 * the interval that begins with it.
	 */
	cols[0]++;
	assert_true(counter_edges_feed(&edges, cols, 4, 100, true));
	cols[0]++;
	assert_true(counter_edges_feed(&edges, cols, 4, 110, false));
	assert_int_equal(edges.nr_intervals, 1);
	assert_int_equal(edges.blurred, 1);
	cols[0]++;
	assert_true(counter_edges_feed(&edges, cols, 4, 115, false));
	assert_int_equal(edges.intervals[1], 5);
	assert_false(counter_edges_feed(&edges, cols, 4, 300, true));
	assert_int_equal(edges.blurred, 1);
	counter_edges_free(&edges);
}

TEST(rates)
{
	static const unsigned int hz[] = {100, 128, 200, 250, 256, 300, 500, 1000, 1024};

	for (size_t i = 0; i < sizeof(hz) / sizeof(hz[0]); i++) {
		struct tick_accounting a = {.offset_ns = 700000};
		struct tick_fit period;
		struct counter_edges edges;

		watch(&edges, &a, hz[i], 3000 * MS, 0.45, 60000);
		assert_true(tick_fit_find(&edges, &period));
		assert_int_equal(lround(period.hz), hz[i]);
		counter_edges_free(&edges);
	}
}

/* The search finds no tick period if a column grows at random times, or only a few times. */
TEST(no_period)
{
	uint64_t random = 7, col = 0, now = 1000;
	struct tick_fit period;
	struct counter_edges edges;

	counter_edges_init(&edges, 1);
	for (size_t i = 0; i < 2000; i++, col++) {
		now += 1000000 + lcg64(&random) % 9000000;
		counter_edges_feed(&edges, &col, 1, now, false);
	}
	assert_false(tick_fit_find(&edges, &period));
	assert_true(tick_fit_coherence(edges.stamps, edges.nr, 4e6, NULL) < 0.1);
	counter_edges_free(&edges);
	for (size_t i = 0; i < 32; i++, col++)
		counter_edges_feed(&edges, &col, 1, now += 4000000, false);
	assert_int_equal(edges.nr, 31);
	assert_false(tick_fit_find(&edges, &period));
	counter_edges_feed(&edges, &col, 1, now += 4000000, false);
	assert_true(tick_fit_find(&edges, &period));
	assert_int_equal(lround(period.hz), 250);
	counter_edges_free(&edges);
	assert_true(tick_fit_coherence(NULL, 0, 4e6, NULL) == 0.0);
}

TEST(pid_times)
{
	struct pidstat stat;

	assert_int_equal(pidstat_parse("12 (a b) S 1 2 3 4 5 6 7 8 9 10 11 12 20 0", &stat), 0);
	assert_int_equal(stat.user_ticks, 11);
	assert_int_equal(stat.system_ticks, 12);
	assert_int_equal(
		pidstat_parse("12 (x) R 99 (y) S 1 2 3 4 -1 6 7 8 9 10 123 456 20 0", &stat), 0);
	assert_int_equal(stat.user_ticks, 123);
	assert_int_equal(stat.cpu, -1);
	/* Each numeric field of the parsed line has a different number. */
	assert_int_equal(
		pidstat_parse("1 (x) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 "
			      "26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41",
			      &stat),
		0);
	assert_int_equal(stat.parent, 4);
	assert_int_equal(stat.flags, 9);
	assert_int_equal(stat.cpu, 39);
	assert_int_equal(pidstat_parse("12 (x) S 1 2 3", &stat), -EINVAL);
	assert_int_equal(pidstat_parse("", &stat), -EINVAL);
}

TEST_MAIN()
