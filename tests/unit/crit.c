/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Means of batches, spreads over rounds, and when two runs differ. */
#include "test.h"

#include <math.h>

#include "stats/compare.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

TEST(test_midmean)
{
	uint64_t one[] = {7}, two[] = {4, 8}, three[] = {1, 2, 9}, four[] = {100, 2, 4, 0};
	uint64_t eight[] = {1000000, 10, 11, 12, 13, 0, 0, 1000000};

	assert_true(isnan(crit_midmean(one, 0)));
	NEAR(crit_midmean(one, 1), 7);
	NEAR(crit_midmean(two, 2), 6);
	/* With fewer than four values all of them count. */
	NEAR(crit_midmean(three, 3), 4);
	NEAR(crit_midmean(four, 4), 3);
	NEAR(crit_midmean(eight, 8), 11.5);
}

/* The mean is finer than the step of the values. */
TEST(test_midmean_between_steps)
{
	uint64_t values[400];
	double mean;

	for (int i = 0; i < 400; i++)
		values[i] = i % 10 < 3 ? 8 : 16;
	mean = crit_midmean(values, 400);
	assert_true(mean > 8 && mean < 16);
}

TEST(test_spread)
{
	double odd[] = {3, 1, 2}, even[] = {4, 1, 2, 3}, gaps[] = {NAN, 5, NAN, 3};
	double none[] = {NAN, NAN};
	struct crit_spread s;

	s = crit_spread_of(odd, 3);
	assert_true(s.low == 1 && s.mid == 2 && s.high == 3 && s.rounds == 3);
	s = crit_spread_of(even, 4);
	assert_true(s.low == 1 && s.mid == 2.5 && s.high == 4);
	s = crit_spread_of(gaps, 4);
	assert_true(s.low == 3 && s.mid == 4 && s.high == 5 && s.rounds == 2);
	s = crit_spread_of(none, 2);
	assert_true(!s.rounds && isnan(s.low) && isnan(s.mid) && isnan(s.high));
	s = crit_spread_of(NULL, 0);
	assert_true(!s.rounds && isnan(s.mid));
}

TEST(test_differ)
{
	struct crit_spread a = {.low = 10, .mid = 11, .high = 12, .rounds = 5};
	struct crit_spread above = {.low = 12.5, .mid = 13, .high = 14, .rounds = 5};
	struct crit_spread overlap = {.low = 12, .mid = 13, .high = 14, .rounds = 5};
	struct crit_spread below = {.low = 7, .mid = 8, .high = 9, .rounds = 5};
	struct crit_difference d;

	assert_int_equal(crit_differ(&a, &above, &d), 0);
	assert_true(d.value == 2 && d.low == 0.5 && d.high == 4 && d.exceeds);
	assert_int_equal(crit_differ(&a, &overlap, &d), 0);
	assert_true(d.value == 2 && d.low == 0 && !d.exceeds);
	assert_int_equal(crit_differ(&a, &below, &d), 0);
	assert_true(d.value == -3 && d.low == -5 && d.high == -1 && d.exceeds);
	assert_int_equal(crit_differ(&a, &a, &d), 0);
	assert_true(d.value == 0 && !d.exceeds);
}

TEST(test_differ_refuses)
{
	struct crit_spread a = {.low = 10, .mid = 11, .high = 12, .rounds = 5};
	struct crit_spread none = crit_spread_of(NULL, 0);
	struct crit_difference d = {.value = 77};

	assert_int_equal(crit_differ(&a, &none, &d), -ENODATA);
	assert_int_equal(crit_differ(&none, &a, &d), -ENODATA);
	assert_true(d.value == 77);
}

TEST_MAIN()
