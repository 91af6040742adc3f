/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The window of wake from points whose figures are known, and its report. */
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
	/* 100 points have no p99.9. */
	expect_row(t, 0, "p999_ns=null");
	expect_row(report->fields, 0, "overhead_ns=60");
	assert_string_equal(table_str(report->fields, 0, "machine.cpu_model"), "a model");
	expect_row(report->fields, 0, "machine.microcode=null");
	/* spread 4, step 32, and twice the rest of the sender's program, 60 */
	expect_row(report->fields, 0, "uncertainty_ns=156");
	report_free(report);
}

TEST_WITH(test_rejected, setup, teardown)
{
	struct bench *b = *state;
	struct report *report;

	b->points[0].reject = WAKE_REJ_BEFORE_IDLE;
	b->points[2].reject = WAKE_REJ_BEFORE_IDLE;
	b->points[4].reject = WAKE_REJ_OTHER_FIRST;
	b->points[6].reject = WAKE_REJ_NMI;
	report = report_of(b, NULL);
	expect_row(report->fields, 0, "asked_total=200 taken_total=196 "
				      "rejected.before_idle_total=2 rejected.other_first_total=1 "
				      "rejected.nmi_total=1 rejected.lost_total=0");
	expect_cells(report, "states", 0, "count=96");
	report_free(report);
}

TEST_WITH(test_exceeds, setup, teardown)
{
	struct bench *b = *state;
	struct report *report;

	/* One point beyond claim plus uncertainty is enough. */
	b->points[8].latency_ns = 2157;
	report = report_of(b, NULL);
	assert_true(b->window.exceeded);
	expect_cells(report, "states", 0, "verdict=exceeds near_max_total=1");
	report_free(report);
}

/* The C6 points of the odd numbers, by residency counters: C6 and the package's PC6. */
static void set_depth(struct bench *b, enum wake_entered entered, enum wake_entered package)
{
	for (int i = 1; i < POINTS; i += 2) {
		b->points[i].entered = entered;
		b->points[i].package = package;
	}
	b->worker.depth.opened = true;
	b->worker.depth.package_can[2] = true;
}

/* A deep state that was requested but not entered, or in a package that never slept. */
TEST_WITH(test_depth, setup, teardown)
{
	struct bench *b = *state;
	struct report *report;
	const struct table *t;

	report = report_of(b, NULL);
	t = report_find(report, "states");
	expect_row(t, 1, "entered_total=null");
	/* Nothing to show in text. */
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
	report = report_of(b, NULL);
	t = report_find(report, "states");
	expect_row(t, 1, "verdict=core-only entered_total=99 max_ns=140000 entered_max_ns=50197 "
			 "package_slept_total=0");
	assert_true(notes_say(report, "the package never slept during a point"));
	assert_false(notes_say(report, "the sender is in the same package"));
	report_free(report);

	b->points[1].package = WAKE_ENTERED_YES;
	b->run.sender_near = true;
	report = report_of(b, NULL);
	expect_cells(report, "states", 1, "verdict=within package_slept_total=1");
	assert_false(notes_say(report, "the package never slept"));
	assert_true(notes_say(report, "the sender is in the same package"));
	report_free(report);
}

/*
 * Rounds: POLL forced, C1 forced (even points up to 98, by timer), C6 forced (all odd ones, by
 * another core), then free (the other even ones).
 */
TEST_WITH(test_rounds, setup, teardown)
{
	struct bench *b = *state;
	struct report *report;
	const struct table *t;

	b->run.plan.nr_rounds = 4;
	for (int i = 0; i < POINTS; i++)
		b->points[i].round = i % 2 ? 2 : i < 100 ? 1 : 3;
	/* In C6's round a point of another state: it is not C6's. */
	b->points[1].state = 1;
	b->points[1].latency_ns = 7;
	report = report_of(b, NULL);
	t = report_find(report, "by_state");
	/* Three states by two sources. */
	assert_int_equal(t->nr_rows, 6);
	expect_row(t, 0, "name=POLL count=0 verdict=no-points");
	expect_row(t, 1, "name=C1 count=50 min_ns=1000 median_ns=1049 max_ns=1098 "
			 "claimed_ns=2000");
	expect_row(t, 5, "name=C6 source=remote count=99 min_ns=50003 max_ns=50199");
	t = report_find(report, "states");
	/* C1 forced, C6 forced and what strayed into C1 there, C1 when free. */
	assert_int_equal(t->nr_rows, 4);
	expect_row(t, 0, "forced=C1 count=50");
	expect_row(t, 1, "forced=C6 name=C1");
	expect_row(t, 2, "name=C6");
	expect_row(t, 3, "forced=null count=50");
	report_free(report);
	report = points_of(b);
	t = report_find(report, "points");
	expect_row(t, 1, "forced=C6");
	expect_row(t, 198, "forced=null");
	report_free(report);
}

#define EACH 1200 /* enough for a p99.9 */

/* Each state alone, EACH points: POLL 100 ns, C1 1.5 us, C6 60 us with a tail of 70 us. */
static void fill_rounds(struct bench *b, struct wake_point *points)
{
	static const int latency_ns[] = {100, 1500, 60000};

	for (int i = 0; i < 3 * EACH; i++)
		points[i] = (struct wake_point){.state = i / EACH,
						.round = i / EACH,
						.silent_ns = 290000,
						.latency_ns = i % EACH > EACH - 4 && i / EACH == 2
								      ? 70000
								      : latency_ns[i / EACH]};
	b->run.plan.sources = 1u << WAKE_TIMER;
	b->run.plan.nr_rounds = 4;
	b->window.breakdown = false;
	b->worker.points = points;
	b->worker.nr = 3 * EACH;
	b->cpu.before[0].time_ns = 100;
	b->cpu.before[1].time_ns = 300;
	b->cpu.before[2].time_ns = 600;
}

/* The deepest state within the budget by p99.9, the limit that admits no deeper one, and its cost. */
TEST_WITH(test_budget, setup, teardown)
{
	struct wake_point *points = calloc(3 * EACH, sizeof(*points));
	struct bench *b = *state;
	struct report *report;

	fill_rounds(b, points);
	b->window.budget_ns = 50000;
	report = report_of(b, NULL);
	expect_row(report->fields, 0, "budget_ns=50000");
	expect_cells(report, "budget", 0, "fits=true name=C1 p999_ns=1500 limit_ns=2000 "
					  "setting=/sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us=2 "
					  "deeper_ratio=0.6");
	assert_true(notes_say(report, "/dev/cpu_dma_latency open with 2 us"));
	assert_false(b->window.over_budget);
	report_free(report);

	/* The median of C6 would fit, its p99.9 does not. */
	b->window.budget_ns = 69000;
	report = report_of(b, NULL);
	expect_cells(report, "budget", 0, "name=C1");
	report_free(report);

	/* The uncertainty is part of the latency. */
	b->window.budget_ns = 70000;
	report = report_of(b, NULL);
	expect_cells(report, "budget", 0, "name=C1");
	report_free(report);
	b->window.budget_ns = 71000;
	report = report_of(b, NULL);
	expect_cells(report, "budget", 0, "name=C6 limit_ns=null setting=null deeper_ratio=0");
	assert_true(notes_say(report, "no latency limit is needed"));
	report_free(report);

	/* Only polling fits: 0 in the file would mean no limit. */
	b->window.budget_ns = 1000;
	report = report_of(b, NULL);
	expect_cells(report, "budget", 0, "name=POLL");
	assert_non_null(strstr(table_str(report_find(report, "budget"), 0, "setting"), "latency_us=n/a"));
	report_free(report);
	b->window.budget_ns = 50;
	report = report_of(b, NULL);
	expect_cells(report, "budget", 0, "fits=false name=null");
	assert_true(b->window.over_budget);
	assert_true(notes_say(report, "no idle state of CPU 0 fits"));
	report_free(report);

	/* Too few points for a p99.9: unknown, which is no fit either. */
	b->window.over_budget = false;
	for (int i = 0; i < 3 * EACH; i++)
		points[i].reject = i % EACH < 900 ? WAKE_TAKEN : WAKE_REJ_LOST;
	report = report_of(b, NULL);
	expect_cells(report, "budget", 0, "fits=null");
	assert_true(b->window.over_budget);
	report_free(report);
	free(points);
}

/* Rounds by preference: rows and points have the preference, no state is forced. */
TEST_WITH(test_preferences, setup, teardown)
{
	static const char preferences[2][WAKE_PREFERENCE] = {"performance", "power"};
	struct bench *b = *state;
	struct report *report;
	const struct table *t;

	b->run.plan.nr_rounds = 3;
	b->run.plan.preferences = preferences;
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
	report = points_of(b);
	t = report_find(report, "points");
	expect_row(t, 1, "preference=power");
	expect_row(t, 198, "preference=null");
	report_free(report);
}

/* The counters of each point, in columns named after them. */
TEST_WITH(test_depth_columns, setup, teardown)
{
	struct bench *b = *state;
	uint32_t ns[POINTS * 2];
	struct report *report;
	const struct table *t;

	for (int i = 0; i < POINTS; i++) {
		ns[2 * i] = i % 2 ? 7000 + i : 0;
		ns[2 * i + 1] = UINT32_MAX;
	}
	set_depth(b, WAKE_ENTERED_YES, WAKE_ENTERED_UNKNOWN);
	b->worker.depth.ns = ns;
	b->worker.depth.nr_columns = 2;
	strcpy(b->worker.depth.name[0], "C6");
	strcpy(b->worker.depth.name[1], "PC6");
	report = points_of(b);
	t = report_find(report, "points");
	expect_row(t, 3, "c6_ns=7003");
	expect_row(t, 2, "c6_ns=0");
	expect_row(t, 3, "pc6_ns=null entered=true");
	expect_row(t, 2, "entered=null");
	expect_row(t, 3, "package_slept=null");
	report_free(report);
}

/* pre-wake compares the same state by both sources. The stages are in order. */
TEST_WITH(test_prewake_and_breakdown, setup, teardown)
{
	struct bench *b = *state;
	struct report *report;
	const struct table *t;

	for (int i = 0; i < POINTS; i++)
		b->points[i].state = 2;
	report = report_of(b, NULL);
	t = report_find(report, "prewake");
	assert_int_equal(t->nr_rows, 1);
	expect_row(t, 0, "prewake_ns=49001 significant=true");
	t = report_find(report, "breakdown");
	assert_int_equal(t->nr_rows, 6);
	expect_row(t, 0, "stage=exit");
	expect_row(t, 1, "stage=interrupt");
	expect_row(t, 2, "stage=user");
	expect_row(t, 1, "step_median_ns=440");
	report_free(report);
}

/* Unknown figures are null, with a note. */
TEST_WITH(test_unknown_overhead, setup, teardown)
{
	struct bench *b = *state;
	struct report *report;

	b->worker.calibration.known = false;
	report = report_of(b, NULL);
	expect_row(report->fields, 0, "overhead_ns=null");
	assert_true(notes_say(report, "overhead of our stamp is unknown"));
	report_free(report);
}

/* A core without calibration, as on the live screen: null, not 0. */
TEST_WITH(test_unknown_clock, setup, teardown)
{
	struct bench *b = *state;
	struct report *report;

	report = report_of(b, NULL);
	expect_cells(report, "cpus", 0, "clock_step_ns=32");
	report_free(report);
	b->worker.calibration = (struct wake_calibration){0};
	report = report_of(b, NULL);
	expect_cells(report, "cpus", 0, "clock_read_ns=null clock_step_ns=null");
	report_free(report);
}

/* Windows are differences of two copies; all exits are the points and the rejected ones. */
TEST_WITH(test_passive, setup, teardown)
{
	static struct wake_hist hists[3], prev[3];
	struct wake_counts counts = {.other = 12, .other_first = 3, .early = 1},
			   counts_prev = {.other = 5};
	struct wake_passive_hist ends[3] = {
		{&hists[0], &prev[0]}, {&hists[1], &prev[1]}, {&hists[2], &prev[2]}};
	struct wake_passive passive = {1, 3, false, ends, &counts, &counts_prev, NULL};
	struct bench *b = *state;
	struct report *report;
	const struct table *t;

	memset(hists, 0, sizeof(hists));
	memset(prev, 0, sizeof(prev));
	/* Before the window 7 wake-ups from C1, in it 20 of 1.5 µs and 4 from C6 of 140 µs. */
	prev[1].count[hist_index(1500)] = 7;
	hists[1] = prev[1];
	hists[1].count[hist_index(1500)] += 20;
	hists[1].sum_ns = 20 * 1500;
	hists[1].max_ns = hists[1].min_ns = 1500;
	hists[1].inside = 21; /* the point is written before its counter */
	hists[2].count[hist_index(140000)] = 4;
	hists[2].sum_ns = 4 * 140000;
	hists[2].max_ns = hists[2].min_ns = 140000;
	b->run.plan.sources = 1u << WAKE_PASSIVE;
	b->window.breakdown = false;
	b->worker.nr = 0;
	b->cpu.counted = true;
	report = report_of(b, &passive);
	assert_true(b->window.exceeded);
	expect_row(report->fields, 0, "taken_total=24 asked_total=35");
	t = report_find(report, "states");
	assert_int_equal(t->nr_rows, 2);
	expect_row(t, 0, "name=C1 count=20 irq_first_total=20 exit_first_total=0 verdict=within");
	expect_row(t, 1, "verdict=exceeds max_ns=139940 usage_total=77");
	report_free(report);
	/* A core without counters has null, not 0. Counters that were reset count from 0. */
	b->cpu.counted = false;
	report = report_of(b, &passive);
	t = report_find(report, "states");
	expect_row(t, 1, "usage_total=null");
	report_free(report);
	b->cpu.counted = true;
	b->cpu.before[2].usage = 1000;
	report = report_of(b, &passive);
	expect_cells(report, "states", 1, "usage_total=77");
	report_free(report);
	/* A state without wake-ups is shown where it is the only one, and has no figures. */
	passive.one_state = true;
	report = report_of(b, &passive);
	t = report_find(report, "states");
	assert_int_equal(t->nr_rows, 3);
	expect_row(t, 0, "count=0 min_ns=null near_max_total=null near_max_ratio=null");
	report_free(report);
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
