/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares histograms and moments with simple, slow computations. */
#include "stats/hist.h"
#include "tests/random.h"

#include <math.h>

#include "dense.h"
#include "stats/quantile.h"
#include "test.h"

/* hist.bpf.h is also compiled here, to compare its buckets with those of user space. */
#include <linux/types.h>
#include "bpf/hist.bpf.h"

static uint64_t random_state = 88172645463325252ULL;

TEST(test_edges)
{
	assert_int_equal(hist_low(0), 0);
	for (unsigned int i = 0; i < HIST_NR; i++) {
		assert_true(hist_high(i) > hist_low(i));
		assert_int_equal(hist_index(hist_low(i)), i);
		assert_int_equal(hist_index(hist_high(i) - 1), i);
		if (hist_low(i) >= HIST_SUB)
			assert_true((double)(hist_high(i) - hist_low(i)) / (double)hist_low(i) <= 0.032);
	}
	assert_int_equal(hist_high(HIST_NR - 1), 1ULL << HIST_VALUE_BITS);
	assert_int_equal(hist_index(UINT64_MAX), HIST_NR - 1);
}

TEST(test_kernel_half)
{
	for (uint64_t v = 0; v < 1 << 20; v++)
		assert_int_equal(hist_bucket(v), hist_index(v));
	for (int shift = 0; shift < 64; shift++)
		for (int off = -1; off <= 1; off++) {
			uint64_t v = (1ULL << shift) + off;

			assert_int_equal(hist_bucket(v), hist_index(v));
		}
	for (int i = 0; i < 1000000; i++) {
		uint64_t v = xorshift64(&random_state) >> xorshift64(&random_state) % 64;

		assert_int_equal(hist_bucket(v), hist_index(v));
	}
}

TEST(test_kernel_msb)
{
	for (unsigned int bit = 0; bit < 64; bit++) {
		assert_int_equal(hist_msb(1ULL << bit), bit);
		assert_int_equal(hist_msb((1ULL << bit) | ((1ULL << bit) - 1)), bit);
	}
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

TEST(test_percentiles)
{
	static const double percents[] = {1, 10, 50, 90, 99, 99.9};
	enum { NR = 20000 };
	static uint64_t values[NR];
	uint64_t count[HIST_NR];

	for (int round = 0; round < 20; round++) {
		memset(count, 0, sizeof(count));
		for (int i = 0; i < NR; i++) {
			values[i] = xorshift64(&random_state) >> (30 + xorshift64(&random_state) % 30);
			count[hist_index(values[i])]++;
		}
		qsort(values, NR, sizeof(values[0]), compare_u64);
		for (size_t p = 0; p < sizeof(percents) / sizeof(percents[0]); p++) {
			double exact = (double)values[(int)ceil(NR * percents[p] / 100.0) - 1];
			double got = hist_percentile(count, percents[p]);

			assert_true(fabs(got - exact) <= exact * 0.032 + 1.0);
		}
	}
	memset(count, 0, sizeof(count));
	count[hist_index(0)] = 7;
	assert_true(hist_percentile(count, 50) == 0.0);
	memset(count, 0, sizeof(count));
	assert_true(hist_percentile(count, 50) == -1.0);
	assert_int_equal(hist_total(count), 0);
}

/* Percentiles are interpolated by rank within a bucket. -7 counts as 0 %, and 107 as 100 %. */
TEST(test_percentile_exact)
{
	uint64_t count[HIST_NR] = {0};
	unsigned int bucket = hist_index(1024);

	assert_int_equal(hist_high(bucket) - hist_low(bucket), 32);
	count[bucket] = 100;
	assert_true(hist_percentile(count, 25) == 1032.0);
	assert_true(hist_percentile(count, 50) == 1040.0);
	assert_true(hist_percentile(count, 0) == 1024.0);
	assert_true(hist_percentile(count, 100) == 1056.0);
	assert_true(hist_percentile(count, -7) == 1024.0);
	assert_true(hist_percentile(count, 107) == 1056.0);
	/* If 99 of 100 values are in the low bucket, the 99th percentile is in the low bucket. */
	count[bucket] = 99;
	count[hist_index(1000000)] = 1;
	assert_true(hist_percentile(count, 99) == 1056.0);
	assert_true(hist_percentile(count, 99.5) > 900000.0);
	count[bucket] = 50;
	count[hist_index(1000000)] = 0;
	count[hist_index(2048)] = 50;
	assert_true(hist_percentile(count, 75) == 2048.0 + 32.0);
}

TEST(test_percentile_coarse)
{
	uint64_t count[HIST_NR >> 3] = {0};
	unsigned int bucket = hist_index(1024) >> 3;

	assert_true(hist_percentile_coarse(count, 3, 50) == -1.0);
	count[bucket] = 100;
	assert_true(hist_percentile_coarse(count, 3, 50) == 1024.0 + 128.0);
	assert_true(hist_percentile_coarse(count, 3, 100) == 1024.0 + 256.0);
	count[hist_index(1000000) >> 3] = 1;
	assert_true(hist_percentile_coarse(count, 3, 99) < 1280.0);
	assert_true(hist_percentile_coarse(count, 3, 99.9) > 900000.0);
	/* The last bucket ends at the largest value of the histogram. */
	count[(HIST_NR >> 3) - 1] = 1000;
	assert_true(hist_percentile_coarse(count, 3, 100) == (double)HIST_VALUE_MAX + 1.0);
}

/* Compares sums and differences of sparse histograms with the sums and differences of arrays. */
TEST(test_sparse)
{
	enum { NR = 300, EXTRA = 8 };
	const struct hist_scale scale = {.nr = NR};

	for (int round = 0; round < 200; round++) {
		uint64_t a[NR + EXTRA] = {0}, b[NR + EXTRA] = {0}, sum[NR + EXTRA], total = 0;
		struct hist left, right, wanted, diff = {.entries = malloc(sizeof(sum))};
		struct hist copy = {0};

		for (int i = 0; i < round % 50; i++) {
			a[xorshift64(&random_state) % (NR + EXTRA)] += xorshift64(&random_state) % 100;
			b[xorshift64(&random_state) % (NR + EXTRA)] += xorshift64(&random_state) % 100;
		}
		for (int i = 0; i < NR + EXTRA; i++) {
			sum[i] = a[i] + b[i];
			total += i < NR ? sum[i] : 0;
		}
		left = hist_of(a, NR + EXTRA);
		right = hist_of(b, NR + EXTRA);
		wanted = hist_of(sum, NR + EXTRA);
		assert_int_equal(hist_set(&copy, &left), 0);
		assert_int_equal(hist_add(&left, &right), 0);
		assert_int_equal(left.nr, wanted.nr);
		assert_memory_equal(left.entries, wanted.entries, wanted.nr * sizeof(*wanted.entries));
		hist_sub(&left, &copy, &diff);
		assert_int_equal(diff.nr, right.nr);
		assert_memory_equal(diff.entries, right.entries, right.nr * sizeof(*right.entries));
		/*
		 * hist_values() does not count entries after the last bucket, which are counters of
		 * the caller.
		 */
		assert_int_equal(hist_values(&scale, &left), total);
		assert_int_equal(hist_set(&copy, &left), 0);
		assert_memory_equal(copy.entries, wanted.entries, wanted.nr * sizeof(*wanted.entries));
		assert_int_equal(hist_set(&copy, &right), 0);
		assert_int_equal(copy.nr, right.nr);
		free(left.entries);
		free(right.entries);
		free(wanted.entries);
		free(diff.entries);
		free(copy.entries);
	}
}

TEST(test_max)
{
	struct hist_entry entry = {.bucket = hist_index(5000), .count = 1};
	struct hist hist = {0};

	assert_int_equal(hist_max(&hist_fine, &hist, 0), 0);
	hist = (struct hist){&entry, 1};
	assert_int_equal(hist_max(&hist_fine, &hist, 5000), 5000);
	/*
	 * The stored maximum (17) is below the highest nonempty bucket, so hist_max() returns the
	 * lower bound of this bucket.
	 */
	assert_int_equal(hist_max(&hist_fine, &hist, 17), hist_low(hist_index(5000)));
	/* Interpolation can exceed the largest value, so the percentile is limited. */
	assert_true(hist_value_at(&hist_fine, &hist, 5000, 100) == 5000.0);
}

TEST(test_moments)
{
	enum { NR = 10000 };
	static double values[NR];
	struct moments m = {0};
	double mean = 0.0, square = 0.0, min = INFINITY, max = -INFINITY;

	for (int i = 0; i < NR; i++) {
		values[i] = 1e12 + (double)(xorshift64(&random_state) % 1000);
		moments_add(&m, values[i]);
		mean += values[i] / NR;
		min = fmin(min, values[i]);
		max = fmax(max, values[i]);
	}
	for (int i = 0; i < NR; i++)
		square += (values[i] - mean) * (values[i] - mean);
	assert_int_equal(m.count, NR);
	assert_true(fabs(m.mean - mean) < 1e-2);
	assert_true(fabs(moments_stddev(&m) - sqrt(square / (NR - 1))) < 1e-2);
	assert_true(m.min == min && m.max == max);
	m = (struct moments){0};
	moments_add(&m, -5.0);
	assert_true(moments_stddev(&m) == 0.0 && m.min == -5.0 && m.max == -5.0);
	moments_add(&m, 3.0);
	assert_true(m.min == -5.0 && m.max == 3.0 && m.mean == -1.0);
	assert_true(fabs(moments_stddev(&m) - sqrt(32.0)) < 1e-12);
}

TEST_MAIN()
