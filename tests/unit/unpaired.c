/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unpaired statistics: a worked example, zeros, few windows, coverage by simulation. */
#include "normal.h"
#include "test.h"

#include <math.h>

#include "stats/compare.h"

/* With this many experiments a share of 95 % has a standard error of 0.5 %. */
#define MANY 2000

static struct moments of(const double *values, int nr)
{
	struct moments m = {0};

	while (nr--)
		moments_add(&m, *values++);
	return m;
}

#define OF(...) of((const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double))

/* Equal relative errors of 1 / sqrt(30) each: four degrees of freedom, t 2.7764. */
TEST(test_example)
{
	struct moments before = OF(9, 10, 11), after = OF(18, 20, 22);
	struct unpaired found = unpaired_compare(&before, &after, 0.95);
	double half = 2.7764451 * sqrt(2.0 * 0.01 / 3.0);

	assert_true(fabs(found.ratio - 1.0) < 1e-12);
	assert_true(fabs(found.low - (2.0 * exp(-half) - 1.0)) < 1e-6);
	assert_true(fabs(found.high - (2.0 * exp(half) - 1.0)) < 1e-6);
	assert_true(found.changed);
	assert_false(unpaired_compare(&before, &before, 0.95).changed);
}

TEST(test_few_windows)
{
	struct moments none = {0}, one = OF(5), two = OF(5, 6), three = OF(90, 91, 92);
	struct unpaired found = unpaired_compare(&one, &three, 0.95);

	assert_true(found.ratio > 17.0 && isnan(found.low) && isnan(found.high) && !found.changed);
	found = unpaired_compare(&two, &three, 0.95);
	assert_true(found.low > 0.0 && !found.changed);
	found = unpaired_compare(&none, &three, 0.95);
	assert_true(isnan(found.ratio) && !found.changed);
}

/* No ratio to 0; a figure that was always 0 and is never 0 now has changed. */
TEST(test_zeros)
{
	struct moments zeros = OF(0, 0, 0), some = OF(0, 2, 4), all = OF(1, 2, 3);

	assert_true(isnan(unpaired_compare(&zeros, &all, 0.95).ratio));
	assert_true(unpaired_compare(&zeros, &all, 0.95).changed);
	assert_true(unpaired_compare(&all, &zeros, 0.95).changed);
	assert_false(unpaired_compare(&zeros, &some, 0.95).changed);
	assert_false(unpaired_compare(&zeros, &zeros, 0.95).changed);
}

/* Only count, mean and ends are known: disjoint ranges of five rounds or more have changed. */
TEST(test_ranges)
{
	struct moments before = {.count = 5, .mean = 1.1, .min = 1.0, .max = 1.2}, after = before;
	struct unpaired found;

	assert_false(unpaired_ranges(&before, &after).changed);
	after = (struct moments){.count = 5, .mean = 2.2, .min = 2.0, .max = 2.4};
	found = unpaired_ranges(&before, &after);
	assert_true(found.changed);
	assert_true(fabs(found.ratio - 1.0) < 1e-9);
	assert_true(fabs(found.low - (2.0 / 1.2 - 1.0)) < 1e-9);
	assert_true(fabs(found.high - 1.4) < 1e-9);
	assert_true(unpaired_ranges(&after, &before).changed);
	after.count = 4;
	assert_false(unpaired_ranges(&before, &after).changed);
	/* No ratio to 0, but disjoint ranges all the same. */
	before = (struct moments){.count = 5};
	after.count = 5;
	found = unpaired_ranges(&before, &after);
	assert_true(isnan(found.ratio) && found.changed);
	after.count = 0;
	assert_false(unpaired_ranges(&before, &after).changed);
}

/* The interval contains the true ratio in 95 of 100 experiments, also with unequal sides. */
TEST(test_coverage)
{
	for (int ratio = 1; ratio <= 3; ratio++) {
		int inside = 0;

		random_state = ratio;
		for (int i = 0; i < MANY; i++) {
			struct moments before = {0}, after = {0};
			struct unpaired found;

			for (int j = 0; j < 8; j++)
				moments_add(&before, 100.0 + 10.0 * normal());
			for (int j = 0; j < 15; j++)
				moments_add(&after, ratio * (100.0 + 20.0 * normal()));
			found = unpaired_compare(&before, &after, 0.95);
			inside += found.low <= ratio - 1.0 && ratio - 1.0 <= found.high;
		}
		assert_true(fabs(inside / (double)MANY - 0.95) < 0.015);
	}
}

TEST_MAIN()
