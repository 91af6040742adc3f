/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the statistics of paired and unpaired comparisons of samples. */
#include "test.h"

#include <math.h>

#include "normal.h"
#include "stats/compare.h"

#define EXPERIMENTS 200
/* number of simulated experiments, for which a share of 95 % has a standard error of 0.5 % */
#define MANY 2000

/* Compares two-sided quantiles of Student's t distribution with printed tables, to four digits. */
TEST(test_student_table)
{
	static const struct {
		double confidence, t;
		unsigned int df;
	} table[] = {
		{0.95, 12.7062, 1}, {0.95, 4.3027, 2},	{0.95, 2.5706, 5}, {0.95, 2.2622, 9},
		{0.95, 2.0930, 19}, {0.99, 63.6567, 1}, {0.99, 3.2498, 9}, {0.90, 1.8331, 9},
		{0.999, 4.7809, 9}, {0.95, 2.0687, 23}, {0.99, 4.6041, 4}, {0.5, 1.0, 1},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		double t = student_quantile(table[i].confidence, table[i].df);

		assert_true(fabs(t - table[i].t) < 0.00006);
		assert_true(fabs(student_within(t, table[i].df) - table[i].confidence) < 1e-9);
	}
}

/* Computes the p-value of a sign-flip permutation test by trying every pattern of signs. */
static double brute_force_p(const double *d, unsigned int nr)
{
	unsigned int extreme = 0;
	double observed = 0.0;

	for (unsigned int i = 0; i < nr; i++)
		observed += d[i];
	for (unsigned int pattern = 0; pattern < 1u << nr; pattern++) {
		double sum = 0.0;

		for (unsigned int i = 0; i < nr; i++)
			sum += pattern >> i & 1 ? -d[i] : d[i];
		extreme += fabs(sum) >= fabs(observed) - 1e-9;
	}
	return (double)extreme / (double)(1u << nr);
}

TEST(test_permutations)
{
	random_state = 1;
	for (unsigned int nr = 2; nr <= 11; nr++) {
		double pairs[11][2], d[11];
		struct paired paired;

		for (unsigned int i = 0; i < nr; i++) {
			/*
			 * The differences have few distinct values, so many sign patterns have the
			 * same sum as the observed signs.
			 */
			d[i] = nr % 3 ? 0.3 + normal() : i % 2 ? 1.0 : 0.5;
			pairs[i][0] = 5.0 + i;
			pairs[i][1] = pairs[i][0] * exp(d[i]);
		}
		paired_compare(pairs, nr, 0.95, true, &paired);
		assert_int_equal(paired.nr, nr);
		assert_true(fabs(paired.p - brute_force_p(d, nr)) < 1e-12);
	}
}

TEST(test_known_effect)
{
	double pairs[10][2];
	struct paired paired;

	for (int i = 0; i < 10; i++) {
		pairs[i][0] = 100.0 * (i + 1);
		pairs[i][1] = pairs[i][0] * 0.5 * (i % 2 ? 1.02 : 1.0 / 1.02);
	}
	paired_compare(pairs, 10, 0.95, true, &paired);
	assert_true(paired.found);
	assert_true(fabs(paired.ratio + 0.5) < 1e-9);
	assert_true(paired.low < -0.5 && paired.low > -0.51 && paired.high > -0.5 &&
		    paired.high < -0.49);
	assert_true(paired.p == 2.0 / 1024.0);
	/*
	 * The smallest detectable effect exceeds half of the confidence interval's width (1.4 %).
	 */
	assert_true(paired.detectable > 0.02 && paired.detectable < 0.04);
	paired_compare(pairs, PAIRED_MIN, 0.95, true, &paired);
	assert_true(paired.found);
}

/*
 * A pair with a round without waits is omitted. Five valid pairs are fewer than PAIRED_MIN and give
 * no verdict.
 */
TEST(test_missing)
{
	double pairs[8][2] = {{1, 2}, {NAN, 2}, {1, 0}, {0, 3}, {2, 4.1}, {3, 6}, {1, 2.2}, {1, 2}};
	struct paired paired;

	paired_compare(pairs, 8, 0.95, true, &paired);
	assert_int_equal(paired.nr, 5);
	assert_false(paired.found);
	assert_true(paired.low > 0.0);
	paired_compare(pairs, 8, 0.95, false, &paired);
	assert_false(paired.found);
	paired_compare(pairs, 2, 0.95, true, &paired);
	assert_int_equal(paired.nr, 1);
	assert_true(isnan(paired.ratio) && isnan(paired.p) && isnan(paired.detectable));
}

TEST(test_equal)
{
	double pairs[6][2] = {{1, 1}, {2, 2}, {3, 3}, {1, 1}, {5, 5}, {1, 1}};
	struct paired paired;

	paired_compare(pairs, 6, 0.95, false, &paired);
	assert_true(paired.low == 0.0 && paired.high == 0.0 && !paired.found);
}

struct tally {
	unsigned int covered, found, rightly_found;
};

/*
 * Simulates experiments with ten pairs of rounds. Both rounds of a pair have the same random
 * factor, as if other programs load the machine.
 */
static struct tally simulate(double effect, double noise, int experiments)
{
	struct tally tally = {0};

	for (int run = 0; run < experiments; run++) {
		double pairs[10][2];
		struct paired paired;

		for (int i = 0; i < 10; i++) {
			double shared = exp(normal());

			pairs[i][0] = 1e5 * shared * exp(noise * normal());
			pairs[i][1] = 1e5 * shared * (1.0 + effect) * exp(noise * normal());
		}
		paired_compare(pairs, 10, 0.95, true, &paired);
		tally.covered += paired.low <= effect && effect <= paired.high;
		tally.found += paired.found;
		tally.rightly_found += paired.found && (paired.ratio > 0) == (effect > 0);
	}
	return tally;
}

TEST(test_coverage)
{
	static const double effects[] = {-0.61, -0.2, 0.1, 1.5};

	random_state = 2;
	for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++) {
		struct tally tally = simulate(effects[i], 0.15, EXPERIMENTS);

		assert_true(tally.covered >= 0.92 * EXPERIMENTS &&
			    tally.covered <= 0.98 * EXPERIMENTS);
		if (fabs(effects[i]) > 0.5)
			assert_int_equal(tally.rightly_found, EXPERIMENTS);
	}
}

/* Simulates comparisons without effect: A/A runs, or a cgroup that the setting does not affect. */
TEST(test_innocent)
{
	static const double noises[] = {0.02, 0.15, 0.6};

	random_state = 3;
	for (size_t i = 0; i < sizeof(noises) / sizeof(noises[0]); i++)
		assert_true(simulate(0.0, noises[i], EXPERIMENTS).found <= 0.08 * EXPERIMENTS);
}

/* An effect of the reported detectable size is found in at least 92 % of experiments. */
TEST(test_detectable)
{
	double mean_square = 0.0;

	random_state = 4;
	for (int run = 0; run < MANY; run++) {
		double pairs[10][2];
		struct paired paired;

		for (int i = 0; i < 10; i++) {
			pairs[i][0] = exp(0.1 * normal());
			pairs[i][1] = exp(0.1 * normal());
		}
		paired_compare(pairs, 10, 0.95, true, &paired);
		mean_square += log1p(paired.detectable) * log1p(paired.detectable) / MANY;
	}
	assert_true(simulate(expm1(sqrt(mean_square)), 0.1, MANY).rightly_found >= 0.92 * MANY);
}

/* number of simulated experiments, for which a share of 95 % has a standard error of 0.5 % */
#define UNPAIRED_MANY 2000

static struct moments of(const double *values, int nr)
{
	struct moments m = {0};

	while (nr--)
		moments_add(&m, *values++);
	return m;
}

#define OF(...) of((const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double))

/*
 * Two samples of three values with equal relative errors have four degrees of freedom, for which t
 * is 2.7764.
 */
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

/*
 * If a mean is 0, the ratio of the means is undefined. If all measured values before the change are
 * 0 and no value after the change is 0, the values count as changed.
 */
TEST(test_zeros)
{
	struct moments zeros = OF(0, 0, 0), some = OF(0, 2, 4), all = OF(1, 2, 3);

	assert_true(isnan(unpaired_compare(&zeros, &all, 0.95).ratio));
	assert_true(unpaired_compare(&zeros, &all, 0.95).changed);
	assert_true(unpaired_compare(&all, &zeros, 0.95).changed);
	assert_false(unpaired_compare(&zeros, &some, 0.95).changed);
	assert_false(unpaired_compare(&zeros, &zeros, 0.95).changed);
}

/*
 * If only count, mean, minimum and maximum are known, a value counts as changed if its ranges
 * before and after are disjoint. Ranges are compared only if there are at least five rounds before
 * and five rounds after the change.
 */
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
	/*
	 * The ratio is undefined, because the mean before the change is 0. The value counts as
	 * changed, because the ranges before and after the change are disjoint.
	 */
	before = (struct moments){.count = 5};
	after.count = 5;
	found = unpaired_ranges(&before, &after);
	assert_true(isnan(found.ratio) && found.changed);
	after.count = 0;
	assert_false(unpaired_ranges(&before, &after).changed);
}

/* The interval contains the true ratio in 95 % of the runs, also for unequal sizes or spreads. */
TEST(test_unpaired_coverage)
{
	for (int ratio = 1; ratio <= 3; ratio++) {
		int inside = 0;

		random_state = ratio;
		for (int i = 0; i < UNPAIRED_MANY; i++) {
			struct moments before = {0}, after = {0};
			struct unpaired found;

			for (int j = 0; j < 8; j++)
				moments_add(&before, 100.0 + 10.0 * normal());
			for (int j = 0; j < 15; j++)
				moments_add(&after, ratio * (100.0 + 20.0 * normal()));
			found = unpaired_compare(&before, &after, 0.95);
			inside += found.low <= ratio - 1.0 && ratio - 1.0 <= found.high;
		}
		assert_true(fabs(inside / (double)UNPAIRED_MANY - 0.95) < 0.015);
	}
}

TEST_MAIN()
