/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests batches and rounds of `subtick crit`, and their reports. */
#include "test.h"

#include <math.h>

#include "measure/crit/module.h"
#include "present/crit.h"
#include "report_rows.h"
#include "stats/compare.h"

static unsigned int rounds_done, stop_after;
static int fail_with;

static bool fake_stopped(void)
{
	return stop_after && rounds_done >= stop_after;
}

/*
 * Simulates round k of operation o: the median is 10·o + k ns, and the batch value is a tenth of
 * the median. Operation irq is not measured.
 */
static int fake_round(struct crit_engine *engine, const struct crit_opts *opts,
		      struct crit_round *round, struct err *err)
{
	if (fail_with)
		return err_set(err, fail_with, "the fake fails");
	round->cpus = calloc(2, sizeof(*round->cpus));
	round->nr_cpus = 2;
	round->clock_ns = 30;
	round->call_ns = 6;
	round->below_overhead = 5;
	for (int op = CRIT_PREEMPT; op < CRIT_NR_OPS; op++) {
		struct crit_figures *f = &round->op[op];

		f->median = 10 * op + rounds_done;
		f->average = f->median + 1;
		f->max = 100 * (rounds_done + 1);
		f->max_avg = 50;
		f->batch = f->median / 10;
		for (unsigned int i = 0; i < opts->nr_percentiles; i++)
			f->percentile[i] = opts->percentile[i] / 1000.0;
		for (int cpu = 0; cpu < 2; cpu++) {
			round->cpus[cpu].cpu = 4 * cpu;
			round->cpus[cpu].op[op] = (struct tb_summary){f->median + cpu, 2, 3};
			round->cpus[cpu].batch[op] = 0.5;
		}
	}
	rounds_done++;
	return 0;
}

static const struct crit_engine_ops fake_ops = {
	.name = "fake", .unit = "ns", .what = "figures made up", .round = fake_round};
static struct crit_engine fake = {.ops = &fake_ops};
static const struct crit_opts three = {.nr_samples = 1000,
				       .nr_highest = 5000,
				       .rounds = 3,
				       .percentile = {50000, 99900, 99000, 100000, 500},
				       .nr_percentiles = 5,
				       .stopped = fake_stopped};

static int reset(void **state)
{
	rounds_done = stop_after = 0;
	fail_with = 0;
	return 0;
}

static struct report *report_of(struct crit_result *result)
{
	struct report *report;
	struct err err = {0};

	assert_int_equal(crit_run(&fake, &three, "", result, &err), 0);
	assert_int_equal(crit_report(&fake, &three, result, NULL, &report), 0);
	return report;
}

/* The per-CPU text of the kernel module is accepted, and any other format is refused. */
TEST_WITH(test_module_cpus, reset, NULL)
{
	static const char *const bad[] = {"",	       "0 1 2\n",	 "0 1 2 3",	 "x 1 2 3\n",
					  "0 1 2 3\n0", "0 1 2 3 4\n", "0 1 2 -\n"};
	struct crit_cpu *cpus = NULL;
	unsigned int nr = 0;

	assert_int_equal(module_parse_cpus("0 10 11 12\n3 20 21 22\n", CRIT_IRQ, &cpus, &nr), 0);
	assert_int_equal(nr, 2);
	assert_int_equal(module_parse_cpus("0 1 2 3\n3 4 5 6\n", CRIT_PREEMPT, &cpus, &nr), 0);
	assert_int_equal(cpus[1].cpu, 3);
	assert_int_equal(cpus[1].op[CRIT_IRQ].average, 21);
	assert_int_equal(cpus[0].op[CRIT_PREEMPT].max, 3);
	assert_true(isnan(cpus[1].batch[CRIT_IRQ]));
	assert_int_equal(module_parse_cpus("0 1 2 3\n4 4 5 6\n", CRIT_IRQ_SAVE, &cpus, &nr), -EINVAL);
	assert_int_equal(module_parse_cpus("0 1 2 3\n", CRIT_IRQ_SAVE, &cpus, &nr), -EINVAL);
	free(cpus);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cpus = NULL;
		nr = 0;
		assert_int_equal(module_parse_cpus(bad[i], CRIT_IRQ, &cpus, &nr), -EINVAL);
		free(cpus);
	}
}

TEST_WITH(test_recommended_median, reset, NULL)
{
	struct crit_result result;
	struct report *report;

	report_free(report_of(&result));
	for (unsigned int i = 0; i < result.nr_rounds; i++)
		for (int op = 0; op < CRIT_NR_OPS; op++)
			result.rounds[i].op[op].batch = NAN;
	assert_int_equal(crit_report(&fake, &three, &result, NULL, &report), 0);
	EXPECT(report, "fields.0 recommended=median", "note use the median with care",
	       "no note use batch");
	crit_result_free(&result);
}

TEST_WITH(test_figures, reset, NULL)
{
	struct crit_result result;

	EXPECT(report_of(&result), "ops.rows 3",
	       "ops.0 median=null batch=null percentiles.p50=null",
	       "ops.1 median=11 median_low=10 median_high=12 average=12 max=300 percentiles.p50=50 "
	       "percentiles.p999=99.9 percentiles.p100=100 percentiles.p05=0.5",
	       "ops.2 batch=2.1 batch_low=2 batch_high=2.2", "per_cpu.rows 4",
	       "per_cpu.2 cpu=4 median=12",
	       /* The batch mean and the median differ most for irq_save, with 2.1 and 21 ns. */
	       "fields.0 recommended=batch nr_highest=1000 rounds=3", "note use batch",
	       "note (irq_save: batch 2.1 ns, median 21 ns)",
	       "quality.0 clock_ns=30 below_overhead_total=15");
	crit_result_free(&result);
}

TEST_WITH(test_stop_keeps_whole_rounds, reset, NULL)
{
	struct crit_result result;
	struct err err = {0};

	stop_after = 2;
	assert_int_equal(crit_run(&fake, &three, "", &result, &err), 0);
	assert_int_equal(result.nr_rounds, 2);
	crit_result_free(&result);
	assert_int_equal(crit_run(&fake, &three, "", &result, &err), -ECANCELED);
	assert_int_equal(err.code, 0);
}

TEST_WITH(test_failure_is_passed_on, reset, NULL)
{
	struct crit_result result = {.nr_rounds = 77};
	struct err err = {0};

	fail_with = -EIO;
	assert_int_equal(crit_run(&fake, &three, "", &result, &err), -EIO);
	assert_string_equal(err.what, "the fake fails");
	assert_int_equal(result.nr_rounds, 77);
}

/*
 * The tracepoints are off, on, and off again. Times that rise slowly in all rounds must not count
 * as a cost of the tracepoints.
 */
TEST_WITH(test_trace_drift_is_no_cost, reset, NULL)
{
	struct crit_trace trace = {.has_irq = true, .has_preempt = true};
	struct report *report;
	struct err err = {0};

	assert_int_equal(crit_run(&fake, &three, "", &trace.off_before, &err), 0);
	assert_int_equal(crit_run(&fake, &three, "", &trace.on, &err), 0);
	assert_int_equal(crit_run(&fake, &three, "", &trace.off_after, &err), 0);
	assert_int_equal(crit_report(&fake, &three, &trace.off_before, &trace, &report), 0);
	EXPECT(report, "tracepoints.1 off_before=1.1 on=1.4 off_after=1.7 cost=0 "
		       "exceeds_spread=false");

	/* All times with tracepoints on are far above those with tracepoints off. */
	for (unsigned int i = 0; i < 3; i++)
		trace.on.rounds[i].op[CRIT_PREEMPT].batch = 9;
	assert_int_equal(crit_report(&fake, &three, &trace.off_before, &trace, &report), 0);
	EXPECT(report, "tracepoints.1 cost=7.6 cost_low=7.2 cost_high=8 exceeds_spread=true");
	crit_trace_free(&trace);
}

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

TEST(test_midmean)
{
	uint64_t one[] = {7}, two[] = {4, 8}, few[] = {1, 2, 9}, four[] = {100, 2, 4, 0};
	uint64_t eight[] = {1000000, 10, 11, 12, 13, 0, 0, 1000000};

	assert_true(isnan(crit_midmean(one, 0)));
	NEAR(crit_midmean(one, 1), 7);
	NEAR(crit_midmean(two, 2), 6);
	NEAR(crit_midmean(few, 3), 4);
	NEAR(crit_midmean(four, 4), 3);
	NEAR(crit_midmean(eight, 8), 11.5);
}

/* The midmean of quantized values is more precise than the quantization step. */
TEST(test_midmean_between_steps)
{
	uint64_t values[400];
	double mean;

	for (int i = 0; i < 400; i++)
		values[i] = i % 10 < 3 ? 8 : 16;
	mean = crit_midmean(values, 400);
	assert_true(mean > 8 && mean < 16);
}

TEST(test_spread)
{
	double odd[] = {3, 1, 2}, even[] = {4, 1, 2, 3}, gaps[] = {NAN, 5, NAN, 3};
	double none[] = {NAN, NAN};
	struct crit_spread s;

	s = crit_spread_of(odd, 3);
	assert_true(s.low == 1 && s.mid == 2 && s.high == 3 && s.rounds == 3);
	s = crit_spread_of(even, 4);
	assert_true(s.low == 1 && s.mid == 2.5 && s.high == 4);
	s = crit_spread_of(gaps, 4);
	assert_true(s.low == 3 && s.mid == 4 && s.high == 5 && s.rounds == 2);
	s = crit_spread_of(none, 2);
	assert_true(!s.rounds && isnan(s.low) && isnan(s.mid) && isnan(s.high));
	s = crit_spread_of(NULL, 0);
	assert_true(!s.rounds && isnan(s.mid));
}

TEST(test_differ)
{
	struct crit_spread a = {.low = 10, .mid = 11, .high = 12, .rounds = 5};
	struct crit_spread above = {.low = 12.5, .mid = 13, .high = 14, .rounds = 5};
	struct crit_spread overlap = {.low = 12, .mid = 13, .high = 14, .rounds = 5};
	struct crit_spread below = {.low = 7, .mid = 8, .high = 9, .rounds = 5};
	struct crit_difference d;

	assert_int_equal(crit_differ(&a, &above, &d), 0);
	assert_true(d.value == 2 && d.low == 0.5 && d.high == 4 && d.exceeds);
	assert_int_equal(crit_differ(&a, &overlap, &d), 0);
	assert_true(d.value == 2 && d.low == 0 && !d.exceeds);
	assert_int_equal(crit_differ(&a, &below, &d), 0);
	assert_true(d.value == -3 && d.low == -5 && d.high == -1 && d.exceeds);
	assert_int_equal(crit_differ(&a, &a, &d), 0);
	assert_true(d.value == 0 && !d.exceeds);
}

TEST(test_differ_refuses)
{
	struct crit_spread a = {.low = 10, .mid = 11, .high = 12, .rounds = 5};
	struct crit_spread none = crit_spread_of(NULL, 0);
	struct crit_difference d = {.value = 77};

	assert_int_equal(crit_differ(&a, &none, &d), -ENODATA);
	assert_int_equal(crit_differ(&none, &a, &d), -ENODATA);
	assert_true(d.value == 77);
}

TEST_MAIN()
