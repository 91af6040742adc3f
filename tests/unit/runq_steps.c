/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests waits counted only at boundaries, and the memory size of the counters. */
#include "test.h"
#include "tests/random.h"

#include <math.h>

#include "dense.h"
#include "measure/runq/chunks.h"
#include "stats/runq.h"

#define MIB   1048576.0
#define WAITS 5000

static const uint64_t le[] = RUNQ_LE_DEFAULT_NS;
#define NR_LE (sizeof(le) / sizeof(le[0]))
static const struct hist_scale scale = {.nr = NR_LE + 1, .le = le};

static uint64_t waits[WAITS];

static int ascending(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/*
 * Fills waits[] with sorted waits from a few ns to beyond the last boundary. Three waits are at or
 * next to each boundary.
 */
static void fill(uint64_t count[NR_LE + 1])
{
	uint64_t random = 88172645463325252ULL;

	memset(count, 0, (NR_LE + 1) * sizeof(*count));
	for (unsigned int i = 0; i < WAITS; i++) {
		xorshift64(&random);
		waits[i] = (random >> 32) >> random % 30;
		if (i < 3 * NR_LE)
			waits[i] = le[i / 3] + i % 3 - 1;
	}
	qsort(waits, WAITS, sizeof(*waits), ascending);
	for (unsigned int i = 0; i < WAITS; i++) {
		unsigned int step = 0;

		while (step < NR_LE && waits[i] > le[step])
			step++;
		count[step]++;
	}
}

TEST(test_figures)
{
	uint64_t count[NR_LE + 1], counts[NR_LE];
	struct hist hist;

	fill(count);
	hist = hist_of(count, NR_LE + 1);
	runq_le_counts(&scale, &hist, le, NR_LE, counts);
	for (unsigned int i = 0; i < NR_LE; i++) {
		uint64_t exact = 0;

		for (unsigned int j = 0; j < WAITS; j++)
			exact += waits[j] <= le[i];
		assert_int_equal(counts[i], exact);
	}
	assert_int_equal(hist_values(&scale, &hist), WAITS);
	assert_int_equal(hist_max(&scale, &hist, waits[WAITS - 1]), waits[WAITS - 1]);
	free(hist.entries);
}

/*
 * A percentile is between the boundaries around its true value, and never above the longest wait.
 */
TEST(test_percentiles)
{
	struct hist_entry one_entry = {.bucket = 1, .count = 1};
	struct hist hist, one = {&one_entry, 1};
	uint64_t count[NR_LE + 1], max;
	double last = 0.0;

	fill(count);
	hist = hist_of(count, NR_LE + 1);
	max = waits[WAITS - 1];
	for (double percent = 0.5; percent <= 100.0; percent += 0.5) {
		uint64_t exact = waits[(unsigned int)ceil(WAITS * percent / 100.0) - 1];
		double found = hist_value_at(&scale, &hist, max, percent);
		unsigned int step = 0;

		while (step < NR_LE && exact > le[step])
			step++;
		assert_true(found >= (step ? (double)le[step - 1] : 0.0));
		assert_true(found <= (step < NR_LE ? (double)le[step] : (double)max));
		assert_true(found >= last && found <= (double)max);
		last = found;
	}
	assert_true(last == (double)max);
	free(hist.entries);
	/*
	 * The histogram has one wait of 15 us, above the boundary of 10 us. The upper bound of this
	 * bucket is the longest wait.
	 */
	assert_int_equal(hist_max(&scale, &one, 15000), 15000);
	assert_true(hist_value_at(&scale, &one, 15000, 100) == 15000.0);
	assert_true(hist_value_at(&scale, &one, 15000, 50) == 12500.0);
	/* If the maximum is unknown (0), only the lower bound of the bucket is known: 10 us. */
	assert_int_equal(hist_max(&scale, &one, 0), 10001);
	one_entry.bucket = 0;
	assert_int_equal(hist_max(&scale, &one, 0), 0);
	one.nr = 0;
	assert_int_equal(hist_max(&scale, &one, 7), 7);
	assert_true(hist_value_at(&scale, &one, 7, 50) == -1.0);
}

/* Tests the example in docs/methods/runq.md, whose 99th percentile is 1.5 s. */
TEST(test_example)
{
	static const uint64_t count[11] = {9850, 0, 0, 0, 0, 0, 0, 100, 50};
	struct hist hist = hist_of(count, 11);
	uint64_t every[10];

	for (unsigned int i = 0; i < 10; i++)
		every[i] = (i + 1) * 200000000ULL;
	assert_true(hist_value_at(&(struct hist_scale){.nr = 11, .le = every}, &hist, every[8],
				  99) == 1.5e9);
	free(hist.entries);
}

/* Returns the bucket of @wait, computed from its table entry @at as in the fast path. */
static unsigned int fine_bucket(uint8_t at, uint64_t wait)
{
	if (at < RUNQ_QUICK_SHIFT)
		return RUNQ_QUICK_FIRST + at;
	return (at - RUNQ_QUICK_SHIFT) * HIST_SUB + (wait >> (at - RUNQ_QUICK_SHIFT));
}

/* Compares the fast path's tables with the exact bucket of every wait. */
TEST(test_tables)
{
	static const uint64_t some[] = {1, 31, 1000, 1024, 1060, 10000, 50000, 65535, 70000};
	unsigned int nr = sizeof(some) / sizeof(some[0]), bad;
	uint8_t in[HIST_NR], before[HIST_NR], step[RUNQ_NR_QUICK], fine[RUNQ_NR_QUICK];

	assert_int_equal(runq_le_assign(some, nr, in, &bad), 0);
	runq_le_before(in, before);
	runq_quick_table(in, true, step);
	runq_quick_table(in, false, fine);
	for (uint64_t wait = 0; wait < RUNQ_QUICK_NS; wait++) {
		unsigned int exact = 0, bucket = hist_index(wait);

		while (exact < nr && wait > some[exact])
			exact++;
		assert_int_equal(before[bucket] + (in[bucket] && wait > some[in[bucket] - 1]),
				 exact);
		if (step[wait / HIST_SUB] < RUNQ_QUICK_LE)
			assert_int_equal(step[wait / HIST_SUB], exact);
		if (fine[wait / HIST_SUB] < RUNQ_QUICK_LE) {
			assert_int_equal(fine_bucket(fine[wait / HIST_SUB], wait), bucket);
			assert_int_equal(in[bucket], 0);
		}
	}
	/* Most entries have a range without a boundary. The fast path can use such entries. */
	assert_int_equal(step[200], 5);
	assert_int_equal(step[2000], 7);
	assert_int_equal(fine[200], hist_index(6400) - RUNQ_QUICK_FIRST);
	assert_true(step[10000 / HIST_SUB] >= RUNQ_QUICK_LE);
	assert_true(fine[10000 / HIST_SUB] >= RUNQ_QUICK_LE);
}

static double memory_mib(unsigned int cpus, size_t groups, bool steps)
{
	struct runq_shape shape = {.stripes = runq_stripes(cpus), .cpus = cpus, .steps = steps};
	struct runq_sizes sizes = {
		.nr_slots = runq_slots_for(&shape, groups, true), .fixed = true, .blame = true};

	return (double)runq_memory(&shape, &sizes) / MIB;
}

/* Tests the memory of an exporter with default settings, as stated in docs/methods/runq.md. */
TEST(test_memory)
{
	struct runq_shape two = {.stripes = 2, .cpus = 2, .steps = true};

	assert_true(memory_mib(256, 16384, true) < 400.0);
	assert_true(memory_mib(2, 10000, true) < 24.0);
	assert_true(memory_mib(2, 10000, false) > 170.0);
	/*
	 * There are enough slots for all existing groups and some new groups, and at most
	 * RUNQ_NR_SLOTS.
	 */
	assert_true(runq_slots_for(&two, 10000, false) >= 1 + 10000 + 256);
	assert_true(runq_slots_for(&two, 10000, true) >= 1 + 10000);
	assert_true(runq_slots_for(&two, 100000, false) <= RUNQ_NR_SLOTS);
	assert_true(runq_slots_for(&two, 0, false) == runq_first_slots(&two));
	for (unsigned int cpus = 1; cpus <= RUNQ_MAX_CPUS; cpus++)
		for (int steps = 0; steps < 2; steps++) {
			struct runq_shape shape = {runq_stripes(cpus), cpus, steps, 0};
			size_t near = runq_first_slots(&shape), size = runq_slot_size(&shape);

			/*
			 * Every offset that BPF programs can compute with RUNQ_FIRST_MASK is inside
			 * the first chunk.
			 */
			assert_true(near >= 1 && (near - 1) * size <= RUNQ_FIRST_MASK);
			assert_true(RUNQ_FIRST_TABLE + RUNQ_FIRST_CELLS - runq_cells_at(&shape) +
					    near * size <=
				    RUNQ_FIRST_BYTES);
			assert_int_equal(runq_cells_at(&shape) % 64, 0);
		}
}

TEST_MAIN()
