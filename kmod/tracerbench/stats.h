/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The statistics of the benchmark, used by the kernel module and by user space. */
#ifndef TRACERBENCH_STATS_H
#define TRACERBENCH_STATS_H

#include "compat.h"

/*
 * Moves the value at @pos down a min-heap until the heap is in order (sift down). The root of a
 * heap of the highest values is the smallest value in the heap. Heapsort with a min-heap sorts in
 * descending order, so "sorted" in this file means highest first.
 */
static inline void tb_sift_down(u64 *value, size_t nr, size_t pos)
{
	u64 moving = value[pos];

	/*
	 * A node of a heap of @nr values has a left child if its index pos is below nr / 2.
	 * Comparing pos with nr / 2 cannot overflow, unlike computing 2 * pos + 1.
	 */
	while (pos < nr / 2) {
		size_t child = 2 * pos + 1;

		if (child + 1 < nr && value[child + 1] < value[child])
			child++;
		if (moving <= value[child])
			break;
		value[pos] = value[child];
		pos = child;
	}
	value[pos] = moving;
}

static inline void tb_sort_descending(u64 *value, size_t nr)
{
	size_t i;

	for (i = nr / 2; i-- > 0;) {
		tb_sift_down(value, nr, i);
		if (!(i & 4095))
			tb_yield();
	}
	for (i = nr; i-- > 1;) {
		u64 smallest = value[0];

		value[0] = value[i];
		value[i] = smallest;
		tb_sift_down(value, i, 0);
		if (!(i & 4095))
			tb_yield();
	}
}

/*
 * Median of sorted values: middle value, or mean of the two middle values rounded down. @nr must be
 * above 0.
 */
static inline u64 tb_median_sorted(const u64 *value, size_t nr)
{
	u64 upper = value[(nr - 1) / 2], lower = value[nr / 2];

	return lower + (upper - lower) / 2;
}

/*
 * Percentile by nearest rank: the smallest sample that is greater than or equal to at least num/den
 * of all samples. If num equals den (100 %), the percentile is the highest sample.
 */
static inline int tb_percentile_sorted(const u64 *value, size_t nr, u64 num, u64 den,
				       u64 *ret_value)
{
	u64 scaled, rank, rest;

	if (!nr || !num || num > den)
		return -EINVAL;
	if (check_mul_overflow((u64)nr, num, &scaled))
		return -EOVERFLOW;
	rank = div64_u64_rem(scaled, den, &rest);
	if (rest)
		rank++;
	*ret_value = value[nr - (size_t)rank];
	return 0;
}

/* Arithmetic mean, rounded to nearest. Fails if the sum of the samples overflows. */
static inline int tb_mean(const u64 *value, size_t nr, u64 *ret_mean)
{
	u64 sum = 0, mean, rest;
	size_t i;

	if (!nr)
		return -EINVAL;
	for (i = 0; i < nr; i++)
		if (check_add_overflow(sum, value[i], &sum))
			return -EOVERFLOW;
	mean = div64_u64_rem(sum, nr, &rest);
	*ret_mean = rest >= nr - rest ? mean + 1 : mean;
	return 0;
}

/* Heap of the highest added values, with room for @room values. */
struct tb_heap {
	u64 *value;
	size_t nr;
	size_t room;
};

/* Returns true if the value is among the highest values so far and enters the heap. */
static inline bool tb_heap_feed(struct tb_heap *heap, u64 value)
{
	size_t pos;

	if (heap->nr == heap->room) {
		if (!heap->room || value <= heap->value[0])
			return false;
		heap->value[0] = value;
		tb_sift_down(heap->value, heap->nr, 0);
		return true;
	}
	for (pos = heap->nr++; pos; pos = (pos - 1) / 2) {
		u64 parent = heap->value[(pos - 1) / 2];

		if (parent <= value)
			break;
		heap->value[pos] = parent;
	}
	heap->value[pos] = value;
	return true;
}

/*
 * Adds samples that are sorted, highest first. tb_heap_feed_sorted() stops at the first sample that
 * does not enter the heap, because no later sample is higher.
 */
static inline void tb_heap_feed_sorted(struct tb_heap *heap, const u64 *value, size_t nr)
{
	size_t i;

	for (i = 0; i < nr && i < heap->room; i++)
		if (!tb_heap_feed(heap, value[i]))
			break;
}

/* Summary of the samples of one operation on one CPU. */
struct tb_summary {
	u64 median;
	u64 average;
	u64 max;
};

/* Computes the summary of the @nr samples, and sorts the samples. */
static inline int tb_summarise(u64 *value, size_t nr, struct tb_summary *ret_summary)
{
	u64 average;
	int err;

	err = tb_mean(value, nr, &average);
	if (err)
		return err;
	tb_sort_descending(value, nr);
	*ret_summary = (struct tb_summary){
		.median = tb_median_sorted(value, nr),
		.average = average,
		.max = value[0],
	};
	return 0;
}

/*
 * Combines summaries: median of medians, mean of means, maximum of maxima. The mean of means equals
 * the mean of all samples, because every CPU has the same number of samples. The scratch array must
 * have room for nr values.
 */
static inline int tb_combine(const struct tb_summary *cpu, size_t nr, u64 *scratch,
			     struct tb_summary *ret_all)
{
	struct tb_summary all = {0};
	size_t i;
	int err;

	for (i = 0; i < nr; i++) {
		scratch[i] = cpu[i].average;
		if (cpu[i].max > all.max)
			all.max = cpu[i].max;
	}
	err = tb_mean(scratch, nr, &all.average);
	if (err)
		return err;
	for (i = 0; i < nr; i++)
		scratch[i] = cpu[i].median;
	tb_sort_descending(scratch, nr);
	all.median = tb_median_sorted(scratch, nr);
	*ret_all = all;
	return 0;
}

#endif
