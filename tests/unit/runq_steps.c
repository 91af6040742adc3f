/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waits that are counted at boundaries only: against a list of waits; and the memory that this takes. */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "measure/runq/memory.h"
#include "stats/hist.h"
#include "stats/runq_steps.h"

#define MIB   1048576.0
#define WAITS 5000

static const uint64_t le[] = RUNQ_LE_DEFAULT_NS;
#define NR_LE (sizeof(le) / sizeof(le[0]))

static uint64_t waits[WAITS];

static int ascending(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* From some ns to beyond the last boundary, and both sides of each boundary; sorted. */
static void fill(struct runq_step_totals *totals)
{
	uint64_t random = 88172645463325252ULL;

	*totals = (struct runq_step_totals){.nr = NR_LE + 1};
	for (unsigned int i = 0; i < WAITS; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		waits[i] = (random >> 32) >> random % 30;
		if (i < 3 * NR_LE)
			waits[i] = le[i / 3] + i % 3 - 1;
	}
	qsort(waits, WAITS, sizeof(*waits), ascending);
	for (unsigned int i = 0; i < WAITS; i++) {
		unsigned int step = 0;

		while (step < NR_LE && waits[i] > le[step])
			step++;
		totals->count[step]++;
		totals->cause_ns[i % RUNQ_NR_CAUSES] += waits[i];
	}
	totals->max_ns = waits[WAITS - 1];
}

static void test_figures(void **state)
{
	struct runq_step_totals totals, later, *kept;
	uint64_t counts[NR_LE], sum = 0;

	(void)state;
	fill(&totals);
	runq_steps_le(&totals, NR_LE, counts);
	for (unsigned int i = 0; i < NR_LE; i++) {
		uint64_t exact = 0;

		for (unsigned int j = 0; j < WAITS; j++)
			exact += waits[j] <= le[i];
		assert_int_equal(counts[i], exact);
	}
	for (unsigned int i = 0; i < WAITS; i++)
		sum += waits[i];
	assert_int_equal(runq_steps_count(&totals), WAITS);
	assert_int_equal(runq_steps_sum_ns(&totals), sum);
	assert_int_equal(runq_steps_max_ns(&totals, le, NR_LE), waits[WAITS - 1]);
	later = totals;
	later.count[3] += 2;
	later.cause_ns[RUNQ_UNKNOWN] += 90000;
	runq_steps_sub(&later, &totals);
	assert_int_equal(runq_steps_count(&later), 2);
	assert_int_equal(runq_steps_sum_ns(&later), 90000);
	later.max_ns = 5;
	kept = runq_steps_copy(&later);
	assert_non_null(kept);
	runq_steps_add(kept, &totals);
	later.count[0] = 0;
	runq_steps_set(&later, kept);
	free(kept);
	assert_int_equal(later.count[3], totals.count[3] + 2);
	assert_int_equal(later.max_ns, waits[WAITS - 1]);
}

static double percentile(const struct runq_step_totals *totals, double percent)
{
	return runq_steps_percentile(totals, le, NR_LE, runq_steps_count(totals),
				     runq_steps_max_ns(totals, le, NR_LE), percent);
}

/* Between the two boundaries around the true one, and never beyond the largest wait. */
static void test_percentiles(void **state)
{
	struct runq_step_totals totals, one = {.max_ns = 15000, .nr = NR_LE + 1};
	double last = 0.0;

	(void)state;
	fill(&totals);
	for (double percent = 0.5; percent <= 100.0; percent += 0.5) {
		uint64_t exact = waits[(unsigned int)ceil(WAITS * percent / 100.0) - 1];
		double found = percentile(&totals, percent);
		unsigned int step = 0;

		while (step < NR_LE && exact > le[step])
			step++;
		assert_true(found >= (step ? (double)le[step - 1] : 0.0));
		assert_true(found <= (step < NR_LE ? (double)le[step] : (double)waits[WAITS - 1]));
		assert_true(found >= last && found <= (double)waits[WAITS - 1]);
		last = found;
	}
	assert_true(last == (double)waits[WAITS - 1]);
	/* Of one wait of 15 us, above 10 us: up to it, not up to the next boundary. */
	one.count[1] = 1;
	assert_true(percentile(&one, 100) == 15000.0);
	assert_true(percentile(&one, 50) == 12500.0);
	one.max_ns = 0; /* taken by the window before: at least above the boundary */
	assert_int_equal(runq_steps_max_ns(&one, le, NR_LE), 10001);
	one.count[1] = 0;
	assert_true(percentile(&one, 50) == -1.0);
}

/* The example of docs/methods/runq.md: of 10,000 waits 9,850 up to 1.4 s, 9,950 up to 1.6 s. */
static void test_example(void **state)
{
	struct runq_step_totals totals = {.nr = 11, .count = {9850, 0, 0, 0, 0, 0, 0, 100, 50}};
	uint64_t every[10];

	(void)state;
	for (unsigned int i = 0; i < 10; i++)
		every[i] = (i + 1) * 200000000ULL;
	totals.max_ns = every[8];
	assert_true(runq_steps_percentile(&totals, every, 10, 10000, totals.max_ns, 99) == 1.5e9);
}

/* As the quick path finds it. */
static unsigned int fine_bucket(uint8_t at, uint64_t wait)
{
	if (at < RUNQ_QUICK_SHIFT)
		return RUNQ_QUICK_FIRST + at;
	return (at - RUNQ_QUICK_SHIFT) * HIST_SUB + (wait >> (at - RUNQ_QUICK_SHIFT));
}

/* The tables of the programs, each entry against every wait that it stands for. */
static void test_tables(void **state)
{
	static const uint64_t some[] = {1, 31, 1000, 1024, 1060, 10000, 50000, 65535, 70000};
	unsigned int nr = sizeof(some) / sizeof(some[0]), bad;
	uint8_t in[HIST_NR], before[HIST_NR], step[RUNQ_NR_QUICK], fine[RUNQ_NR_QUICK];

	(void)state;
	assert_int_equal(runq_le_place(some, nr, in, &bad), 0);
	runq_le_before(in, before);
	runq_quick_steps(in, step);
	runq_quick_buckets(in, fine);
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
	/* Most are without a boundary, or the quick path would be none. */
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

/* What docs/methods/runq.md promises of an exporter with its defaults. */
static void test_memory(void **state)
{
	struct runq_shape two = {.stripes = 2, .cpus = 2, .steps = true};

	(void)state;
	assert_true(memory_mib(256, 16384, true) < 400.0);
	assert_true(memory_mib(2, 10000, true) < 24.0);
	/* The fine histogram is what takes the memory. */
	assert_true(memory_mib(2, 10000, false) > 170.0);
	/* Room for every group and for those that come, and never more than there can be. */
	assert_true(runq_slots_for(&two, 10000, false) >= 1 + 10000 + 256);
	assert_true(runq_slots_for(&two, 10000, true) >= 1 + 10000);
	assert_true(runq_slots_for(&two, 100000, false) <= RUNQ_NR_SLOTS);
	assert_true(runq_slots_for(&two, 0, false) == runq_near_slots(&two));
	for (unsigned int cpus = 1; cpus <= RUNQ_MAX_CPUS; cpus++)
		for (int steps = 0; steps < 2; steps++) {
			struct runq_shape shape = {runq_stripes(cpus), cpus, steps};
			size_t near = runq_near_slots(&shape), size = runq_slot_size(&shape);

			/* Any masked offset of the programs is inside the memory of the first chunk. */
			assert_true(near >= 1 && (near - 1) * size <= RUNQ_NEAR_MASK);
			assert_true(RUNQ_NEAR_TABLE + RUNQ_NEAR_CELLS - runq_cells_at(&shape) + near * size <=
				    RUNQ_NEAR_BYTES);
			assert_int_equal(runq_cells_at(&shape) % 64, 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_percentiles),
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
