/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests counts at boundaries, windows, sampling errors and rows of blame. */
#include "test.h"
#include "tests/random.h"

#include <math.h>

#include "dense.h"
#include "stats/runq.h"

static void count_wait(uint64_t count[RUNQ_NR_COUNTS], const uint64_t *le,
		       const uint8_t in[HIST_NR], uint64_t wait_ns)
{
	unsigned int bucket = hist_index(wait_ns);

	count[bucket]++;
	if (in[bucket] && wait_ns <= le[in[bucket] - 1])
		count[HIST_NR + in[bucket] - 1]++;
}

/*
 * Tests counts with waits just below, at and just above each boundary. The boundaries are at or
 * near limits of histogram buckets.
 */
TEST(test_le_is_exact)
{
	static const uint64_t le[] = {
		1,	31,	 32,	  100,	   1000,      10000,	     10239,
		100000, 1000000, 1048575, 2097152, 999999999, HIST_VALUE_MAX};
	unsigned int nr = sizeof(le) / sizeof(le[0]), bad;
	uint64_t count[RUNQ_NR_COUNTS] = {0};
	struct hist hist;
	uint64_t *waits = malloc(400000 * sizeof(*waits)), random = 88172645463325252ULL;
	uint64_t counts[RUNQ_NR_LE];
	uint8_t in[HIST_NR];
	size_t nr_waits = 0;

	/* Boundaries 10000 and 10239 are refused, because both are in the bucket [9984, 10240). */
	assert_int_equal(runq_le_assign(le, nr, in, &bad), -EINVAL);
	assert_int_equal(bad, 6);
	{
		uint64_t apart[] = {
			1,	31,	 32,	  100,	   1000,      10000,	     20000,
			100000, 1000000, 1048575, 2097152, 999999999, HIST_VALUE_MAX};

		assert_int_equal(runq_le_assign(apart, nr, in, &bad), 0);
		for (unsigned int i = 0; i < nr; i++)
			for (int64_t d = -70; d <= 70; d++)
				if ((int64_t)apart[i] + d >= 0)
					waits[nr_waits++] = apart[i] + d;
		for (int i = 0; i < 200000; i++)
			waits[nr_waits++] =
				xorshift64(&random) >> (28 + xorshift64(&random) % 36);
		for (size_t i = 0; i < nr_waits; i++)
			count_wait(count, apart, in,
				   waits[i] > HIST_VALUE_MAX ? HIST_VALUE_MAX : waits[i]);
		hist = hist_of(count, RUNQ_NR_COUNTS);
		runq_le_counts(&hist_fine, &hist, apart, nr, counts);
		for (unsigned int i = 0; i < nr; i++) {
			uint64_t exact = 0;

			for (size_t j = 0; j < nr_waits; j++)
				exact += (waits[j] > HIST_VALUE_MAX ? HIST_VALUE_MAX : waits[j]) <=
					 apart[i];
			assert_int_equal(counts[i], exact);
		}
		assert_int_equal(hist_values(&hist_fine, &hist), nr_waits);
		free(hist.entries);
	}
	free(waits);
}

TEST(test_le_refused)
{
	const uint64_t descending[] = {2000, 1000}, same[] = {1000, 1000},
		       near[] = {100000, 100001};
	const uint64_t large[] = {HIST_VALUE_MAX + 1};
	uint64_t many[RUNQ_NR_LE + 1];
	uint8_t in[HIST_NR];
	unsigned int bad;

	for (unsigned int i = 0; i <= RUNQ_NR_LE; i++)
		many[i] = 1ULL << i;
	assert_int_equal(runq_le_assign(descending, 2, in, &bad), -EINVAL);
	assert_int_equal(bad, 1);
	assert_int_equal(runq_le_assign(same, 2, in, &bad), -EINVAL);
	assert_int_equal(runq_le_assign(near, 2, in, &bad), -EINVAL);
	assert_int_equal(runq_le_assign(large, 1, in, &bad), -EINVAL);
	assert_int_equal(runq_le_assign(many, RUNQ_NR_LE, in, &bad), 0);
	assert_int_equal(runq_le_assign(many, RUNQ_NR_LE + 1, in, &bad), -EINVAL);
	assert_int_equal(bad, RUNQ_NR_LE);
}

static void expect_entry(const struct hist *hist, uint32_t at, unsigned int bucket, uint64_t count)
{
	assert_int_equal(hist->entries[at].bucket, bucket);
	assert_int_equal(hist->entries[at].count, count);
}

TEST(test_slot_read)
{
	enum {
		STRIPES = 4,
		CPUS = 7
	};
	char *slot = calloc(1, RUNQ_SLOT_SIZE(STRIPES, CPUS));
	struct runq_cell *cell = (struct runq_cell *)(slot + RUNQ_CELLS(STRIPES));
	struct runq_hist *hist = (struct runq_hist *)(slot + RUNQ_HISTS);
	struct runq_shape shape = {.stripes = STRIPES, .cpus = CPUS, .nr_le = RUNQ_NR_LE};
	struct hist_entry entries[RUNQ_NR_COUNTS], more[RUNQ_NR_COUNTS], grown[RUNQ_NR_COUNTS];
	struct hist was = {.entries = entries}, now = {.entries = more}, diff = {.entries = grown};
	uint64_t cause_ns[RUNQ_NR_CAUSES];

	for (unsigned int i = 0; i < STRIPES; i++) {
		hist[i].count[0] = 1;
		hist[i].count[100] = 10 + i;
		hist[i].count[HIST_NR - 1] = 1;
		hist[i].below[RUNQ_NR_LE - 1] = 2 + i;
	}
	for (unsigned int i = 0; i < CPUS; i++)
		for (int c = 0; c < RUNQ_NR_HOT; c++)
			cell[i].cause_ns[c] = 1000 * c + i;
	for (unsigned int i = 0; i < STRIPES; i++)
		for (int c = RUNQ_NR_HOT; c < RUNQ_NR_CAUSES; c++)
			hist[i].rare_ns[c - RUNQ_NR_HOT] = 1000 * c + i;
	runq_slot_read(slot, &shape, cause_ns, &was);
	assert_int_equal(was.nr, 4);
	expect_entry(&was, 0, 0, STRIPES);
	expect_entry(&was, 1, 100, 46);
	expect_entry(&was, 2, HIST_NR - 1, 4);
	expect_entry(&was, 3, HIST_NR + RUNQ_NR_LE - 1, 14);
	assert_int_equal(hist_values(&hist_fine, &was), 54);
	assert_int_equal(runq_slot_count(slot, &shape), 54);
	assert_int_equal(cause_ns[RUNQ_PREEMPTED], CPUS * 4000 + 21);
	assert_int_equal(cause_ns[RUNQ_UNKNOWN], STRIPES * 7000 + 6);
	assert_int_equal(runq_slot_wait_ns(slot, &shape),
			 CPUS * 10000 + 5 * 21 + STRIPES * 18000 + 3 * 6);

	hist[2].count[100]++;
	hist[1].below[3]++;
	hist[3].below[RUNQ_NR_LE - 1] += 5;
	cell[3].cause_ns[RUNQ_IDLE] += 77;
	runq_slot_read(slot, &shape, cause_ns, &now);
	assert_int_equal(cause_ns[RUNQ_IDLE], 21 + 77);
	hist_sub(&now, &was, &diff);
	assert_int_equal(diff.nr, 3);
	expect_entry(&diff, 0, 100, 1);
	expect_entry(&diff, 1, HIST_NR + 3, 1);
	expect_entry(&diff, 2, HIST_NR + RUNQ_NR_LE - 1, 5);
	shape.nr_le = 3;
	runq_slot_read(slot, &shape, cause_ns, &now);
	assert_int_equal(now.nr, 3);
	free(slot);
}

/* The reported standard error equals the spread of many samples of the same waits. */
TEST(test_sampling_error)
{
	enum {
		WAITS = 2000,
		TRIALS = 2000
	};
	const double ratio = 0.1;
	double sums[TRIALS], mean = 0, var = 0, truth = 0, shown = 0;
	uint64_t random = 0x9e3779b97f4a7c15ULL, waits[WAITS];

	for (int i = 0; i < WAITS; i++) {
		waits[i] = 1000 + xorshift64(&random) % 1000000;
		truth += (double)waits[i];
	}
	for (int t = 0; t < TRIALS; t++) {
		uint64_t count[HIST_NR] = {0};
		struct hist hist;

		sums[t] = 0;
		for (int i = 0; i < WAITS; i++)
			if ((double)(uint32_t)xorshift64(&random) < ratio * 4294967296.0) {
				count[hist_index(waits[i])]++;
				sums[t] += (double)waits[i] / ratio;
			}
		mean += sums[t] / TRIALS;
		hist = hist_of(count, HIST_NR);
		shown += runq_sum_stderr(&hist, ratio) / TRIALS;
		free(hist.entries);
	}
	for (int t = 0; t < TRIALS; t++)
		var += (sums[t] - mean) * (sums[t] - mean) / (TRIALS - 1);
	/*
	 * The mean of the estimated sums is within four standard errors of the true sum.
	 * runq_sum_stderr() is within 10 % of the true standard error.
	 */
	assert_true(fabs(mean - truth) < 4 * sqrt(var / TRIALS));
	assert_true(fabs(shown - sqrt(var) / truth) < 0.1 * sqrt(var) / truth);
}

/* Rows with the same victim and culprit are merged, and sorted by victim and culprit. */
TEST(test_blame_merge)
{
	struct runq_row rows[] = {
		{{4, 4}, {5, 1}}, {{1, 3}, {50, 2}}, {{1, 2}, {160, 3}}, {{4, 4}, {7, 2}}, {{1, 3}, {1, 1}}};

	assert_int_equal(runq_rows_merge(rows, 5), 3);
	assert_int_equal(rows[0].pair.culprit, 2);
	assert_int_equal(rows[0].charge.wait_ns, 160);
	assert_int_equal(rows[1].charge.wait_ns, 51);
	assert_int_equal(rows[1].charge.count, 3);
	assert_int_equal(rows[2].pair.victim, 4);
	assert_int_equal(rows[2].charge.wait_ns, 12);
	assert_int_equal(runq_rows_merge(NULL, 0), 0);
}

TEST(test_blame_rank)
{
	struct runq_row rows[] = {
		{{1, 10}, {5, 1}},   {{2, 10}, {100, 1}}, {{1, 11}, {50, 1}}, {{1, 12}, {20, 1}},
		{{1, 13}, {300, 1}}, {{2, 11}, {200, 4}}, {{3, 1}, {1, 1}},
	};
	struct runq_row late[] = {
		{{1, 10}, {5, 1}}, {{5, 10}, {6, 1}}, {{9, 10}, {4, 1}}, {{9, 11}, {3, 1}}};
	uint64_t sum = 0;
	size_t nr = runq_rows_rank(rows, 7, 3);

	/* Victims waited 375, 300 and 1 ns, and each keeps at most three rows. */
	assert_int_equal(nr, 6);
	assert_int_equal(rows[0].pair.victim, 1);
	assert_int_equal(rows[0].pair.culprit, 13);
	assert_int_equal(rows[1].pair.culprit, 11);
	assert_true(rows[2].pair.culprit == RUNQ_KEY_OTHER);
	assert_int_equal(rows[2].charge.wait_ns, 25);
	assert_int_equal(rows[2].charge.count, 2);
	assert_int_equal(rows[3].pair.culprit, 11);
	assert_int_equal(rows[5].pair.victim, 3);
	for (size_t i = 0; i < nr; i++)
		sum += rows[i].charge.wait_ns;
	assert_int_equal(sum, 676);
	assert_int_equal(runq_rows_rank(NULL, 0, 3), 0);
	nr = runq_rows_rank(late, 4, 3);
	assert_int_equal(nr, 4);
	assert_int_equal(late[0].pair.victim, 9);
	assert_int_equal(late[2].pair.victim, 5);
	assert_int_equal(late[3].pair.victim, 1);
}

TEST_MAIN()
