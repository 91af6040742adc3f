/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares the statistics of kernel module and user space with simple, slow computations. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/tracerbench/stats.h"
#include "tests/random.h"

#define NR_MAX 300
#define ROUNDS 400

enum shape {
	SHAPE_WIDE,
	SHAPE_FEW_VALUES,
	SHAPE_CONSTANT,
	SHAPE_RISING,
	SHAPE_FALLING,
	SHAPE_EXTREME,
	NR_SHAPES,
};

static size_t fill(u64 *value, unsigned int round, u64 *state)
{
	size_t nr = round < 20 ? round + 1 : 1 + xorshift64(state) % NR_MAX;

	for (size_t i = 0; i < nr; i++) {
		u64 random = xorshift64(state);

		switch (round % NR_SHAPES) {
		case SHAPE_WIDE:
			/* Values of 52 bits, so that the sum of NR_MAX values fits into 64 bits. */
			value[i] = random >> 12;
			break;
		case SHAPE_FEW_VALUES:
			value[i] = random % 4;
			break;
		case SHAPE_CONSTANT:
			value[i] = 42;
			break;
		case SHAPE_RISING:
			value[i] = i;
			break;
		case SHAPE_FALLING:
			value[i] = nr - i;
			break;
		case SHAPE_EXTREME:
			value[i] = random & 1 ? 0 : UINT64_MAX >> 11;
			break;
		}
	}
	return nr;
}

static int compare_descending(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x < y) - (x > y);
}

static void test_sort(void **unused)
{
	u64 value[NR_MAX], expected[NR_MAX], state = 1;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		size_t nr = fill(value, round, &state);

		memcpy(expected, value, sizeof(value));
		qsort(expected, nr, sizeof(*expected), compare_descending);
		tb_sort_descending(value, nr);
		assert_memory_equal(value, expected, nr * sizeof(*value));
	}
	tb_sort_descending(value, 0);
}

static size_t count_at_most(const u64 *value, size_t nr, u64 limit)
{
	size_t count = 0;

	for (size_t i = 0; i < nr; i++)
		count += value[i] <= limit;
	return count;
}

static u64 kth_smallest(const u64 *value, size_t nr, size_t k)
{
	u64 best = UINT64_MAX;

	for (size_t i = 0; i < nr; i++)
		if (value[i] < best && count_at_most(value, nr, value[i]) >= k)
			best = value[i];
	return best;
}

static void test_median(void **unused)
{
	u64 value[NR_MAX], sorted[NR_MAX], state = 2;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		size_t nr = fill(value, round, &state);
		u64 lower = kth_smallest(value, nr, (nr + 1) / 2);
		u64 upper = kth_smallest(value, nr, nr / 2 + 1);

		memcpy(sorted, value, sizeof(value));
		tb_sort_descending(sorted, nr);
		assert_int_equal(tb_median_sorted(sorted, nr), (lower + upper) / 2);
	}
}

static void test_median_of_largest_values_does_not_wrap(void **unused)
{
	const u64 value[] = {UINT64_MAX, UINT64_MAX - 2};

	assert_int_equal(tb_median_sorted(value, 2), UINT64_MAX - 1);
}

static void test_percentile(void **unused)
{
	static const u64 den[] = {100, 1000, 100000};
	u64 value[NR_MAX], sorted[NR_MAX], state = 3;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		size_t nr = fill(value, round, &state);
		u64 d = den[round % 3], num = 1 + xorshift64(&state) % d, got;
		size_t rank = 1;

		if (round % 50 == 0)
			num = d;
		while ((unsigned __int128)rank * d < (unsigned __int128)nr * num)
			rank++;
		memcpy(sorted, value, sizeof(value));
		tb_sort_descending(sorted, nr);
		assert_int_equal(tb_percentile_sorted(sorted, nr, num, d, &got), 0);
		assert_int_equal(got, kth_smallest(value, nr, rank));
	}
}

static void test_percentile_refuses(void **unused)
{
	u64 value[] = {3, 2, 1}, got = 77;

	assert_int_equal(tb_percentile_sorted(value, 3, 0, 100, &got), -EINVAL);
	assert_int_equal(tb_percentile_sorted(value, 3, 101, 100, &got), -EINVAL);
	assert_int_equal(tb_percentile_sorted(value, 0, 50, 100, &got), -EINVAL);
	assert_int_equal(tb_percentile_sorted(value, 3, UINT64_MAX / 2, UINT64_MAX, &got),
			 -EOVERFLOW);
	assert_int_equal(got, 77);
}

static void test_mean(void **unused)
{
	u64 value[NR_MAX], state = 4, got;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		size_t nr = fill(value, round, &state);
		unsigned __int128 sum = 0;

		for (size_t i = 0; i < nr; i++)
			sum += value[i];
		assert_int_equal(tb_mean(value, nr, &got), 0);
		assert_true(got == (u64)((sum * 2 + nr) / (2 * nr)));
	}
}

static void test_mean_refuses(void **unused)
{
	u64 value[] = {UINT64_MAX, 0, 1}, got = 77;

	assert_int_equal(tb_mean(value, 0, &got), -EINVAL);
	assert_int_equal(tb_mean(value, 3, &got), -EOVERFLOW);
	assert_int_equal(got, 77);
	assert_int_equal(tb_mean(value, 2, &got), 0);
	assert_true(got == 1ULL << 63);
}

static bool is_heap(const struct tb_heap *heap)
{
	for (size_t i = 1; i < heap->nr; i++)
		if (heap->value[(i - 1) / 2] > heap->value[i])
			return false;
	return true;
}

static void test_heap_keeps_the_highest(void **unused)
{
	u64 value[NR_MAX], kept[NR_MAX], state = 5;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		size_t nr = fill(value, round, &state);
		struct tb_heap heap = {.value = kept, .room = 1 + xorshift64(&state) % NR_MAX};

		for (size_t i = 0; i < nr; i++) {
			tb_heap_feed(&heap, value[i]);
			assert_true(is_heap(&heap));
		}
		assert_int_equal(heap.nr, nr < heap.room ? nr : heap.room);
		qsort(kept, heap.nr, sizeof(*kept), compare_descending);
		qsort(value, nr, sizeof(*value), compare_descending);
		assert_memory_equal(kept, value, heap.nr * sizeof(*kept));
	}
}

/*
 * Several CPUs add their sorted samples to one heap. The heap keeps the highest samples of all
 * CPUs.
 */
static void test_heap_fed_by_several(void **unused)
{
	u64 all[4 * NR_MAX], kept[NR_MAX], state = 6;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct tb_heap heap = {.value = kept, .room = 1 + xorshift64(&state) % 50};
		size_t nr = 0;

		for (unsigned int cpu = 0; cpu < 4; cpu++) {
			size_t own = fill(&all[nr], round, &state);

			tb_sort_descending(&all[nr], own);
			tb_heap_feed_sorted(&heap, &all[nr], own);
			nr += own;
		}
		qsort(kept, heap.nr, sizeof(*kept), compare_descending);
		qsort(all, nr, sizeof(*all), compare_descending);
		assert_int_equal(heap.nr, nr < heap.room ? nr : heap.room);
		assert_memory_equal(kept, all, heap.nr * sizeof(*kept));
	}
}

static void test_heap_without_room(void **unused)
{
	struct tb_heap heap = {0};

	assert_false(tb_heap_feed(&heap, 1));
	assert_int_equal(heap.nr, 0);
}

static void test_summary_and_combination(void **unused)
{
	u64 state = 7, scratch[5], samples[5][100], medians[5], total = 0, highest = 0;
	struct tb_summary cpu[5], all = {0};

	for (unsigned int i = 0; i < 5; i++) {
		for (unsigned int j = 0; j < 100; j++) {
			samples[i][j] = xorshift64(&state) % 1000;
			total += samples[i][j];
			if (samples[i][j] > highest)
				highest = samples[i][j];
		}
		medians[i] =
			(kth_smallest(samples[i], 100, 50) + kth_smallest(samples[i], 100, 51)) / 2;
		assert_int_equal(tb_summarise(samples[i], 100, &cpu[i]), 0);
		assert_int_equal(cpu[i].median, medians[i]);
	}
	assert_int_equal(tb_combine(cpu, 5, scratch, &all), 0);
	assert_int_equal(all.median, kth_smallest(medians, 5, 3));
	assert_int_equal(all.max, highest);
	/* Rounding once per CPU and once over all CPUs changes the average by at most 1. */
	assert_true(all.average >= total / 500 - 1 && all.average <= total / 500 + 1);
}

static void test_combination_refuses(void **unused)
{
	struct tb_summary cpu[2] = {{.average = UINT64_MAX}, {.average = UINT64_MAX}};
	struct tb_summary all = {.median = 77};
	u64 scratch[2];

	assert_int_equal(tb_combine(cpu, 2, scratch, &all), -EOVERFLOW);
	assert_int_equal(tb_combine(cpu, 0, scratch, &all), -EINVAL);
	assert_int_equal(all.median, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_median),
		cmocka_unit_test(test_median_of_largest_values_does_not_wrap),
		cmocka_unit_test(test_percentile),
		cmocka_unit_test(test_percentile_refuses),
		cmocka_unit_test(test_mean),
		cmocka_unit_test(test_mean_refuses),
		cmocka_unit_test(test_heap_keeps_the_highest),
		cmocka_unit_test(test_heap_fed_by_several),
		cmocka_unit_test(test_heap_without_room),
		cmocka_unit_test(test_summary_and_combination),
		cmocka_unit_test(test_combination_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
