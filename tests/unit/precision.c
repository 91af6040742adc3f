/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the window length for a precision, by formula and from simulated errors. */
#include "test.h"
#include "tests/random.h"

#include <math.h>

#include "stats/audit.h"

#define MS 1000000ULL

/* Simulates the ticks of a core with random load, and its busy time in units of 10 ms. */
static void sampled(uint64_t *busy, size_t nr)
{
	uint64_t random = 3;

	busy[0] = 0;
	for (size_t i = 1; i < nr; i++)
		busy[i] = busy[i - 1] + (lcg64(&random) % 1000 < 300);
}

static double sampled_error(const uint64_t *busy, size_t from, size_t ticks, double bias)
{
	uint64_t shown = busy[from + ticks] * 4 / 10 - busy[from] * 4 / 10;

	return (double)shown * 10.0 / (4.0 * (double)ticks) - 0.3 + bias;
}

#define NR_TICKS 2500000 /* number of ticks in nearly three hours at HZ=250 */

static size_t sampled_points(const uint64_t *busy, size_t nr, double bias,
			     struct precision_point *points)
{
	static const size_t ticks[] = {25, 50, 125, 250, 500};

	for (size_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++) {
		double sum = 0.0;

		for (size_t from = 0; from + ticks[i] < nr; from++)
			sum += pow(sampled_error(busy, from, ticks[i], bias), 2.0);
		points[i] = (struct precision_point){ticks[i] * 4 * MS,
						     sqrt(sum / (double)(nr - ticks[i])),
						     (double)nr / (double)ticks[i]};
	}
	return sizeof(ticks) / sizeof(ticks[0]);
}

/*
 * Estimates the window length that gives an error of 1 %, from the errors of shorter windows. About
 * 95 % of the windows of the estimated length must have an error of at most 1 %.
 */
TEST(from_errors)
{
	uint64_t *busy = malloc(NR_TICKS * sizeof(*busy)), window;
	struct precision_point points[5];
	size_t nr, ticks, within = 0, of = 0;

	assert_non_null(busy);
	sampled(busy, NR_TICKS);
	nr = sampled_points(busy, 100000, 0.0, points);
	window = precision_estimate(0.01, points, nr, 0.0, 400000 * MS);
	/*
	 * Window in seconds at 30 % load: 1.96² × 0.3 × 0.7 / (0.01² × 250), plus a small part for
	 * rounding
	 */
	assert_true(window > 29000 * MS && window < 36000 * MS);
	ticks = window / (4 * MS);
	for (size_t from = 0; from + ticks < NR_TICKS; from += ticks / 8, of++)
		within += fabs(sampled_error(busy, from, ticks, 0.0)) <= 0.01;
	assert_true((double)within / (double)of > 0.92 && (double)within / (double)of < 0.98);
	nr = sampled_points(busy, 2750, 0.0, points);
	window = precision_estimate(0.01, points, nr, 0.0, 11000 * MS);
	assert_true(window > 16000 * MS && window < 64000 * MS);

	/*
	 * With a systematic error of 0.5 %, no window gives a precision of 0.4 %, and a precision
	 * of 1 % needs a longer window.
	 */
	nr = sampled_points(busy, 100000, 0.005, points);
	assert_int_equal(precision_estimate(0.004, points, nr, 0.005, 400000 * MS), 0);
	assert_true(precision_estimate(0.01, points, nr, 0.005, 400000 * MS) > 100000 * MS);
	free(busy);
}

/*
 * If the kernel accounts CPU time exactly, the only error is the rounding to 10 ms at both ends of
 * the window.
 */
TEST(of_rounding)
{
	static const struct precision_point points[] = {
		{100 * MS, 0.04, 100.0}, {200 * MS, 0.02, 50.0}, {1000 * MS, 0.004, 10.0}};
	uint64_t window = precision_estimate(0.01, points, 3, 0.0, 10000 * MS);

	/*
	 * Expected window: 1.96 (95 % confidence) × 4 ms (error × window of each point) / 0.01
	 * (precision)
	 */
	assert_true(fabs((double)window / 1e9 - 0.784) < 0.001);
	assert_int_equal(precision_estimate(0.01, points, 1, 0.0, 10000 * MS), 0);
	assert_int_equal(precision_estimate(0.01, points, 3, 0.0, 0), 0);
}

TEST_MAIN()
