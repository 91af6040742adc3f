/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the report of `subtick wake` with known wake-ups. */
#include "wake_bench.h"

#include "stats/hist.h"

TEST_WITH(test_states, setup, teardown)
{
	struct bench *b = *state;
	struct report *report;
	const struct table *t;

	report = report_of(b, NULL);
	assert_false(b->window.exceeded);
	assert_string_equal(report->source, "timer,remote");
	t = report_find(report, "states");
	assert_int_equal(t->nr_rows, 2);
	expect_row(t, 0, "name=C1 source=timer verdict=within claimed_ns=2000 count=100 "
			 "min_ns=1000 max_ns=1198 median_ns=1099 silent_median_ns=290000 "
			 "exit_first_total=100");
	expect_row(t, 1, "name=C6 usage_total=77 residency_ns=5000000");
	/* 100 wake-ups are too few for a p99.9. */
	expect_row(t, 0, "p999_ns=null");
	expect_row(report->fields, 0, "overhead_ns=60");
	assert_string_equal(table_str(report->fields, 0, "machine.cpu_model"), "a model");
	expect_row(report->fields, 0, "machine.microcode=null");
	/*
	 * uncertainty: timestamp spread of 4 ns + clock step of 32 ns + 2 × 60 ns for the rest of
	 * the sender's BPF program
	 */
	expect_row(report->fields, 0, "uncertainty_ns=156");
	report_free(report);
}

TEST_WITH(test_rejected, setup, teardown)
{
	struct bench *b = *state;

	b->points[0].reject = WAKE_REJ_BEFORE_IDLE;
	b->points[2].reject = WAKE_REJ_BEFORE_IDLE;
	b->points[4].reject = WAKE_REJ_OTHER_FIRST;
	b->points[6].reject = WAKE_REJ_NMI;
	EXPECT(report_of(b, NULL),
	       "fields.0 requested_total=200 taken_total=196 rejected.before_idle_total=2 "
	       "rejected.other_first_total=1 rejected.nmi_total=1 rejected.lost_total=0",
	       "states.0 count=96");
}

TEST_WITH(test_exceeds, setup, teardown)
{
	struct bench *b = *state;

	/* One latency above the claim plus the uncertainty causes the verdict "exceeds". */
	b->points[8].latency_ns = 2157;
	EXPECT(report_of(b, NULL), "states.0 verdict=exceeds near_max_total=1");
	assert_true(b->window.exceeded);
}

/* Sets for each odd wake-up whether the core entered C6, and whether the package entered PC6. */
static void set_depth(struct bench *b, enum wake_entered entered, enum wake_entered package)
{
	for (int i = 1; i < POINTS; i += 2) {
		b->points[i].entered = entered;
		b->points[i].package = package;
	}
	b->worker.depth.opened = true;
	b->worker.depth.package_can[2] = true;
}

TEST_WITH(test_depth, setup, teardown)
{
	struct bench *b = *state;
	struct report *report;
	const struct table *t;

	report = report_of(b, NULL);
	t = report_find(report, "states");
	expect_row(t, 1, "entered_total=null");
	/* Columns without any value are in JSON but not in text. */
	assert_true(t->cols[table_find(t, "entered_ratio")].data_only);
	assert_true(t->cols[table_find(t, "forced")].data_only);
	expect_row(t, 1, "entered_by=null package_slept_total=null verdict=within");
	report_free(report);

	set_depth(b, WAKE_ENTERED_NO, WAKE_ENTERED_NO);
	b->cpu.before[2].above = 5;
	b->cpu.after[2].above = 45;
	b->cpu.after[2].rejected = CPUIDLE_UNKNOWN;
	report = report_of(b, NULL);
	t = report_find(report, "states");
	expect_row(t, 1, "verdict=not-entered");
	assert_false(t->cols[table_find(t, "entered_ratio")].data_only);
	expect_row(t, 1, "entered_by=cstate_core entered_total=0 above_total=40 below_total=0 "
			 "refused_total=null");
	assert_true(notes_say(report, "C6 was requested but never entered (by cstate_core)"));
	report_free(report);

	set_depth(b, WAKE_ENTERED_YES, WAKE_ENTERED_NO);
	b->points[199].latency_ns = 140000;
	b->points[199].entered = WAKE_ENTERED_NO;
	EXPECT(report_of(b, NULL),
	       "states.1 verdict=core-only entered_total=99 max_ns=140000 "
	       "entered_max_ns=50197 package_slept_total=0",
	       "note the package never slept during the measurement",
	       "no note the sender is in the same package");

	b->points[1].package = WAKE_ENTERED_YES;
	b->run.sender_shares_package = true;
	EXPECT(report_of(b, NULL), "states.1 verdict=within package_slept_total=1",
	       "no note the package never slept", "note the sender is in the same package");
}

/*
 * Round 0 forces POLL and has no wake-ups. Round 1 forces C1, and a timer wakes the core. Round 2
 * forces C6, and another core wakes the measured core. Round 3 forces no state.
 */
TEST_WITH(test_rounds, setup, teardown)
{
	struct bench *b = *state;

	b->run.plan.rounds = &(struct wake_rounds){.nr = 3};
	for (int i = 0; i < POINTS; i++)
		b->points[i].round = i % 2 ? 2 : i < 100 ? 1 : 3;
	b->points[1].state = 1;
	b->points[1].latency_ns = 7;
	EXPECT(report_of(b, NULL),
	       /* three states × two sources */
	       "by_state.rows 6", "by_state.0 name=POLL count=0 verdict=no-points",
	       "by_state.1 name=C1 count=50 min_ns=1000 median_ns=1049 max_ns=1098 claimed_ns=2000",
	       "by_state.5 name=C6 source=remote count=99 min_ns=50003 max_ns=50199",
	       /*
	        * Rows of the table "states": C1 (C1 forced), C1 and C6 (C6 forced), C1 (no state
	        * forced).
	        */
	       "states.rows 4", "states.0 forced=C1 count=50", "states.1 forced=C6 name=C1",
	       "states.2 name=C6", "states.3 forced=null count=50");
	EXPECT(points_of(b), "points.1 forced=C6", "points.198 forced=null");
}

#define EACH 1200 /* number of wake-ups, sufficient for a p99.9 */

/*
 * Makes EACH wake-ups per idle state: 100 ns from POLL, 1.5 us from C1 and 60 us from C6, except
 * the last three wake-ups from C6, which take 70 us.
 */
static void fill_rounds(struct bench *b, struct wake_point *points)
{
	static struct wake_rounds rounds = {.nr = 3};
	static const int latency_ns[] = {100, 1500, 60000};

	for (int i = 0; i < 3 * EACH; i++)
		points[i] = (struct wake_point){.state = i / EACH,
						.round = i / EACH,
						.silent_ns = 290000,
						.latency_ns = i % EACH > EACH - 4 && i / EACH == 2
								      ? 70000
								      : latency_ns[i / EACH]};
	b->run.plan.sources = 1u << WAKE_TIMER;
	b->run.plan.rounds = &rounds;
	b->window.breakdown = false;
	b->worker.points = points;
	b->worker.nr = 3 * EACH;
	b->cpu.before[0].time_ns = 100;
	b->cpu.before[1].time_ns = 300;
	b->cpu.before[2].time_ns = 600;
}

/*
 * The report names the deepest idle state whose p99.9 is within the budget, the latency limit that
 * allows no deeper state, and the cost of this limit.
 */
TEST_WITH(test_budget, setup, teardown)
{
	struct wake_point *points = calloc(3 * EACH, sizeof(*points));
	struct bench *b = *state;
	struct report *report;

	fill_rounds(b, points);
	b->window.budget_ns = 50000;
	EXPECT(report_of(b, NULL), "fields.0 budget_ns=50000",
	       "budget.0 fits=true name=C1 p999_ns=1500 limit_ns=2000 "
	       "setting=/sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us=2 "
	       "deeper_ratio=0.6",
	       "note /dev/cpu_dma_latency open with 2 us");
	assert_false(b->window.over_budget);

	b->window.budget_ns = 69000;
	EXPECT(report_of(b, NULL), "budget.0 name=C1");

	/* The sum of latency and uncertainty is compared with the latency budget. */
	b->window.budget_ns = 70000;
	EXPECT(report_of(b, NULL), "budget.0 name=C1");
	b->window.budget_ns = 71000;
	EXPECT(report_of(b, NULL), "budget.0 name=C6 limit_ns=null setting=null deeper_ratio=0",
	       "note no latency limit is needed");

	/* Only POLL fits the budget. The limit is not 0, because 0 would mean "no limit". */
	b->window.budget_ns = 1000;
	report = report_of(b, NULL);
	expect_cells(report, "budget", 0, "fits=true name=POLL");
	assert_non_null(strstr(table_str(report_find(report, "budget"), 0, "setting"), "latency_us=n/a"));
	report_free(report);
	b->window.budget_ns = 50;
	EXPECT(report_of(b, NULL), "budget.0 fits=false name=null",
	       "note no idle state of CPU 0 has a p99.9 within the budget");
	assert_true(b->window.over_budget);

	/* Too few wake-ups have a latency for a p99.9, so no idle state can be chosen. */
	b->window.over_budget = false;
	for (int i = 0; i < 3 * EACH; i++)
		points[i].reject = i % EACH < 900 ? WAKE_TAKEN : WAKE_REJ_LOST;
	EXPECT(report_of(b, NULL), "budget.0 fits=null");
	assert_true(b->window.over_budget);
	free(points);
}

/* A round may set an energy performance preference instead of forcing an idle state. */
TEST_WITH(test_preferences, setup, teardown)
{
	struct wake_rounds rounds = {.nr = 2, .file = "", .values = {"performance", "power"}};
	struct bench *b = *state;
	struct report *report;
	const struct table *t;

	b->run.plan.rounds = &rounds;
	b->worker.plan = &b->run.plan;
	for (int i = 0; i < POINTS; i++)
		b->points[i].round = i % 2 ? 1 : i < 100 ? 0 : 2;
	report = report_of(b, NULL);
	assert_null(report_find(report, "by_state"));
	t = report_find(report, "states");
	assert_int_equal(t->nr_rows, 3);
	expect_row(t, 0, "preference=performance");
	expect_row(t, 1, "preference=power");
	expect_row(t, 2, "preference=null");
	expect_row(t, 0, "forced=null");
	assert_false(t->cols[table_find(t, "preference")].data_only);
	assert_true(t->cols[table_find(t, "forced")].data_only);
	report_free(report);
	EXPECT(points_of(b), "points.1 preference=power", "points.198 preference=null");
}

/* The file written by --points has a column for each residency counter. */
TEST_WITH(test_depth_columns, setup, teardown)
{
	struct bench *b = *state;
	uint32_t ns[POINTS * 2];

	for (int i = 0; i < POINTS; i++) {
		ns[2 * i] = i % 2 ? 7000 + i : 0;
		ns[2 * i + 1] = UINT32_MAX;
	}
	set_depth(b, WAKE_ENTERED_YES, WAKE_ENTERED_UNKNOWN);
	b->worker.depth.ns = ns;
	b->worker.depth.nr_columns = 2;
	strcpy(b->worker.depth.name[0], "C6");
	strcpy(b->worker.depth.name[1], "PC6");
	EXPECT(points_of(b), "points.3 c6_ns=7003", "points.2 c6_ns=0",
	       "points.3 pc6_ns=null entered=true", "points.2 entered=null",
	       "points.3 package_slept=null");
}

/*
 * Some cores begin to wake up before their timer expires. For each idle state, prewake_ns is the
 * median latency of wake-ups by another core minus the median latency of wake-ups by the timer. The
 * stages of a wake-up are sorted by time.
 */
TEST_WITH(test_prewake_and_breakdown, setup, teardown)
{
	struct bench *b = *state;

	for (int i = 0; i < POINTS; i++)
		b->points[i].state = 2;
	EXPECT(report_of(b, NULL), "prewake.rows 1", "prewake.0 prewake_ns=49001 significant=true",
	       "breakdown.rows 6", "breakdown.0 stage=exit", "breakdown.1 stage=interrupt",
	       "breakdown.2 stage=user", "breakdown.1 step_median_ns=440");
}

TEST_WITH(test_unknown_overhead, setup, teardown)
{
	struct bench *b = *state;

	b->worker.calibration.known = false;
	EXPECT(report_of(b, NULL), "fields.0 overhead_ns=null",
	       "note overhead of subtick's timestamp is unknown");
}

/* Cores are not calibrated for the live screen, so the uncertainty is null, not 0. */
TEST_WITH(test_unknown_clock, setup, teardown)
{
	struct bench *b = *state;

	EXPECT(report_of(b, NULL), "cpus.0 clock_step_ns=32");
	b->worker.calibration = (struct wake_calibration){0};
	EXPECT(report_of(b, NULL), "cpus.0 clock_read_ns=null clock_step_ns=null");
}

/*
 * The counts of a window are the growth of the counters. Counted and rejected wake-ups add up to
 * the idle exits.
 */
TEST_WITH(test_passive, setup, teardown)
{
	static struct wake_hist hists[3], prev[3];
	struct wake_counts counts = {.other = 12, .other_first = 3, .early = 1},
			   counts_prev = {.other = 5};
	struct wake_passive_hist ends[3] = {
		{&hists[0], &prev[0]}, {&hists[1], &prev[1]}, {&hists[2], &prev[2]}};
	struct load_wake live = {.nr_cpus = 1, .nr_states = 3};
	struct wake_passive passive = {&live, ends, &counts, &counts_prev, NULL};
	struct bench *b = *state;

	memset(hists, 0, sizeof(hists));
	memset(prev, 0, sizeof(prev));
	/*
	 * Before the window there were 7 wake-ups of 1.5 µs from C1. The window has 20 wake-ups of
	 * 1.5 µs from C1 and 4 of 140 µs from C6.
	 */
	prev[1].count[hist_index(1500)] = 7;
	hists[1] = prev[1];
	hists[1].count[hist_index(1500)] += 20;
	hists[1].sum_ns = 20 * 1500;
	hists[1].max_ns = hists[1].min_ns = 1500;
	hists[1].inside = 21; /* the BPF program stores a wake-up before incrementing `inside` */
	hists[2].count[hist_index(140000)] = 4;
	hists[2].sum_ns = 4 * 140000;
	hists[2].max_ns = hists[2].min_ns = 140000;
	b->run.plan.sources = 1u << WAKE_PASSIVE;
	b->window.breakdown = false;
	b->worker.nr = 0;
	b->cpu.counted = true;
	EXPECT(report_of(b, &passive), "fields.0 taken_total=24 requested_total=35", "states.rows 2",
	       "states.0 name=C1 count=20 irq_first_total=20 exit_first_total=0 verdict=within",
	       "states.1 verdict=exceeds max_ns=139940 usage_total=77");
	assert_true(b->window.exceeded);
	/*
	 * Without cpuidle counters the usage is null, not 0. If a counter was reset, its growth is
	 * counted from 0.
	 */
	b->cpu.counted = false;
	EXPECT(report_of(b, &passive), "states.1 usage_total=null");
	b->cpu.counted = true;
	b->cpu.before[2].usage = 1000;
	EXPECT(report_of(b, &passive), "states.1 usage_total=77");
	/*
	 * If a core has only one idle state, the report has a row of the state even without
	 * wake-ups.
	 */
	live.one_state = true;
	EXPECT(report_of(b, &passive), "states.rows 3",
	       "states.0 count=0 min_ns=null near_max_total=null near_max_ratio=null");
}

TEST_WITH(test_points, setup, teardown)
{
	struct bench *b = *state;
	struct report *report;
	const struct table *t;

	b->points[3].reject = WAKE_REJ_LOST;
	report = points_of(b);
	t = report_find(report, "points");
	assert_int_equal(t->nr_rows, POINTS);
	expect_row(t, 0, "latency_ns=1000");
	expect_row(t, 3, "rejected=lost latency_ns=null index=null");
	t = report_find(report, "distribution");
	expect_row(t, t->nr_rows - 1, "count=99");
	report_free(report);
}

TEST_MAIN()
