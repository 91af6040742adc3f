/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the conversion to Prometheus native histograms. The total count stays the same. */
#include "stats/hist.h"

#include <math.h>

#include "dense.h"
#include "test.h"

/* Finds the native bucket i of a value by its definition: 2^((i-1)/8) s < value <= 2^(i/8) s. */
static int index_of(uint64_t value_ns)
{
	int i = native_fine.first;

	while (pow(2.0, i / 8.0) * 1e9 < (double)value_ns)
		i++;
	return i;
}

static unsigned int word_of(uint64_t value_ns)
{
	uint64_t count[HIST_NR] = {0}, words[NATIVE_FINE_WORDS] = {0}, total = 0;
	unsigned int found = 0;
	struct hist hist;

	count[hist_index(value_ns)] = 1;
	hist = hist_of(count, HIST_NR);
	native_fold(&hist, 1.0, words);
	free(hist.entries);
	for (unsigned int i = 0; i < NATIVE_FINE_WORDS; i++) {
		total += words[i];
		if (words[i])
			found = i;
	}
	assert_int_equal(total, 1);
	return found;
}

/*
 * Each bucket of subtick is counted in one native bucket. A value exceeds the limits of its native
 * bucket by at most 1.6 %.
 */
TEST(test_fine)
{
	uint64_t zero_ns = (uint64_t)ldexp(1e9, -23);
	unsigned int moved = 0, last = 0;

	for (unsigned int b = 0; b < HIST_NR; b++) {
		uint64_t ends[] = {hist_low(b), hist_high(b) - 1};

		for (int e = 0; e < 2; e++) {
			double value = (double)ends[e], from, to;
			unsigned int word = word_of(ends[e]);

			assert_true(word >= last && word <= native_fine.nr);
			last = word;
			from = word ? pow(2.0, (native_fine.first + (int)word - 2) / 8.0) * 1e9 : -1.0;
			to = pow(2.0, (native_fine.first + (int)word - 1) / 8.0) * 1e9;
			if (ends[e] > zero_ns && word == (unsigned int)(index_of(ends[e]) - native_fine.first + 1))
				assert_true(value > from && value <= to);
			else if (word)
				moved++;
			if (value <= from)
				assert_true((from - value) / value < 0.016);
			if (value > to)
				assert_true((value - to) / value < 0.016);
		}
	}
	/* Some values must exceed their native bucket, to test the limit of 1.6 %. */
	assert_true(moved > 20 && moved < 2 * HIST_NR / 4);
	assert_int_equal(word_of(UINT64_MAX), native_fine.nr);
}

/*
 * If waits are sampled, each count is divided by the sampling ratio. The rounded counts add up to
 * the rounded total.
 */
TEST(test_sample)
{
	uint64_t count[HIST_NR] = {0}, words[NATIVE_FINE_WORDS] = {0}, total = 0, sum = 0;
	struct hist hist;

	for (unsigned int i = 300; i < 700; i++)
		total += count[i] = i % 5;
	hist = hist_of(count, HIST_NR);
	native_fold(&hist, 0.3, words);
	for (unsigned int i = 0; i < NATIVE_FINE_WORDS; i++)
		sum += words[i];
	assert_int_equal(sum, llround((double)total / 0.3));
	native_fold(&hist, 0.3, words);
	free(hist.entries);
	for (unsigned int i = 0; i < NATIVE_FINE_WORDS; i++)
		sum -= words[i];
	assert_int_equal(-sum, llround((double)total / 0.3));
}

/* Each native_le_ns() is the upper bound of a native bucket, rounded down to ns. */
TEST(test_coarse)
{
	for (unsigned int i = 0; i < NATIVE_NR_LE; i++) {
		double edge_ns = ldexp(1e9, native_coarse.first - 1 + (int)i);

		assert_true((double)native_le_ns(i) <= edge_ns);
		assert_true((double)(native_le_ns(i) + 1) > edge_ns);
	}
	assert_int_equal(native_coarse.nr, NATIVE_NR_LE);
	assert_true(native_le_ns(NATIVE_NR_LE - 1) <= HIST_VALUE_MAX);
}

TEST_MAIN()
