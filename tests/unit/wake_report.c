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
	assert_string_equal(text(t, 0, "name"), "C1");
	assert_string_equal(text(t, 0, "source"), "timer");
	assert_string_equal(text(t, 0, "verdict"), "within");
	assert_int_equal(cell(t, 0, "claimed_ns"), 2000);
	assert_int_equal(cell(t, 0, "count"), POINTS / 2);
	assert_int_equal(cell(t, 0, "min_ns"), 1000);
	assert_int_equal(cell(t, 0, "max_ns"), 1198);
	assert_int_equal(cell(t, 0, "median_ns"), 1099);
	assert_int_equal(cell(t, 0, "silent_median_ns"), 290000);
	assert_int_equal(cell(t, 0, "exit_first_total"), POINTS / 2);
	assert_string_equal(text(t, 1, "name"), "C6");
	assert_int_equal(cell(t, 1, "usage_total"), 77);
	assert_int_equal(cell(t, 1, "residency_ns"), 5000000);
	/* 100 points have no p99.9. */
	assert_int_equal(table_cell(t, 0, table_find(t, "p999_ns"))->kind, VALUE_NULL);
	assert_int_equal(cell(report->fields, 0, "overhead_ns"), 60);
	assert_string_equal(text(report->fields, 0, "machine.cpu_model"), "a model");
	assert_int_equal(
		table_cell(report->fields, 0, table_find(report->fields, "machine.microcode"))
			->kind,
		VALUE_NULL);
	/* spread 4, step 32, and twice the rest of the sender's program, 60 */
	assert_int_equal(cell(report->fields, 0, "uncertainty_ns"), 156);
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
	assert_int_equal(cell(report->fields, 0, "asked_total"), POINTS);
	assert_int_equal(cell(report->fields, 0, "taken_total"), POINTS - 4);
	assert_int_equal(cell(report->fields, 0, "rejected.before_idle_total"), 2);
	assert_int_equal(cell(report->fields, 0, "rejected.other_first_total"), 1);
	assert_int_equal(cell(report->fields, 0, "rejected.nmi_total"), 1);
	assert_int_equal(cell(report->fields, 0, "rejected.lost_total"), 0);
	assert_int_equal(cell(report_find(report, "states"), 0, "count"), POINTS / 2 - 4);
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
	assert_string_equal(text(report_find(report, "states"), 0, "verdict"), "exceeds");
	assert_int_equal(cell(report_find(report, "states"), 0, "near_max_total"), 1);
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
	assert_int_equal(table_cell(t, 1, table_find(t, "entered_total"))->kind, VALUE_NULL);
	/* Nothing to show in text. */
	assert_true(t->cols[table_find(t, "entered_ratio")].data_only);
	assert_true(t->cols[table_find(t, "forced")].data_only);
	assert_int_equal(table_cell(t, 1, table_find(t, "entered_by"))->kind, VALUE_NULL);
	assert_int_equal(table_cell(t, 1, table_find(t, "package_slept_total"))->kind, VALUE_NULL);
	assert_string_equal(text(t, 1, "verdict"), "within");
	report_free(report);

	set_depth(b, WAKE_ENTERED_NO, WAKE_ENTERED_NO);
	b->cpu.before[2].above = 5;
	b->cpu.after[2].above = 45;
	b->cpu.after[2].rejected = CPUIDLE_UNKNOWN;
	report = report_of(b, NULL);
	t = report_find(report, "states");
	assert_string_equal(text(t, 1, "verdict"), "not-entered");
	assert_false(t->cols[table_find(t, "entered_ratio")].data_only);
	assert_string_equal(text(t, 1, "entered_by"), "cstate_core");
	assert_int_equal(cell(t, 1, "entered_total"), 0);
	assert_int_equal(cell(t, 1, "above_total"), 40);
	assert_int_equal(cell(t, 1, "below_total"), 0);
	assert_int_equal(table_cell(t, 1, table_find(t, "refused_total"))->kind, VALUE_NULL);
	assert_true(notes_say(report, "C6 was requested but never entered (by cstate_core)"));
	report_free(report);

	set_depth(b, WAKE_ENTERED_YES, WAKE_ENTERED_NO);
	b->points[199].latency_ns = 140000;
	b->points[199].entered = WAKE_ENTERED_NO;
	report = report_of(b, NULL);
	t = report_find(report, "states");
	assert_string_equal(text(t, 1, "verdict"), "core-only");
	assert_int_equal(cell(t, 1, "entered_total"), 99);
	assert_int_equal(cell(t, 1, "max_ns"), 140000);
	assert_int_equal(cell(t, 1, "entered_max_ns"), 50197);
	assert_int_equal(cell(t, 1, "package_slept_total"), 0);
	assert_true(notes_say(report, "the package never slept during a point"));
	assert_false(notes_say(report, "the sender is in the same package"));
	report_free(report);

	b->points[1].package = WAKE_ENTERED_YES;
	b->run.sender_near = true;
	report = report_of(b, NULL);
	assert_string_equal(text(report_find(report, "states"), 1, "verdict"), "within");
	assert_int_equal(cell(report_find(report, "states"), 1, "package_slept_total"), 1);
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
	assert_string_equal(text(t, 0, "name"), "POLL");
	assert_int_equal(cell(t, 0, "count"), 0);
	assert_string_equal(text(t, 0, "verdict"), "no-points");
	assert_string_equal(text(t, 1, "name"), "C1");
	assert_int_equal(cell(t, 1, "count"), 50);
	assert_int_equal(cell(t, 1, "min_ns"), 1000);
	assert_int_equal(cell(t, 1, "median_ns"), 1049);
	assert_int_equal(cell(t, 1, "max_ns"), 1098);
	assert_int_equal(cell(t, 1, "claimed_ns"), 2000);
	assert_string_equal(text(t, 5, "name"), "C6");
	assert_string_equal(text(t, 5, "source"), "remote");
	assert_int_equal(cell(t, 5, "count"), 99);
	assert_int_equal(cell(t, 5, "min_ns"), 50003);
	assert_int_equal(cell(t, 5, "max_ns"), 50199);
	t = report_find(report, "states");
	/* C1 forced, C6 forced and what strayed into C1 there, C1 when free. */
	assert_int_equal(t->nr_rows, 4);
	assert_string_equal(text(t, 0, "forced"), "C1");
	assert_int_equal(cell(t, 0, "count"), 50);
	assert_string_equal(text(t, 1, "forced"), "C6");
	assert_string_equal(text(t, 1, "name"), "C1");
	assert_string_equal(text(t, 2, "name"), "C6");
	assert_int_equal(table_cell(t, 3, table_find(t, "forced"))->kind, VALUE_NULL);
	assert_int_equal(cell(t, 3, "count"), 50);
	report_free(report);
	report = points_of(b);
	t = report_find(report, "points");
	assert_string_equal(text(t, 1, "forced"), "C6");
	assert_int_equal(table_cell(t, 198, table_find(t, "forced"))->kind, VALUE_NULL);
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

static const struct value *budget_cell(const struct report *report, const char *key)
{
	return table_get(report_find(report, "budget"), 0, key);
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
	assert_int_equal(cell(report->fields, 0, "budget_ns"), 50000);
	assert_true(budget_cell(report, "fits")->flag);
	assert_string_equal(budget_cell(report, "name")->str, "C1");
	assert_int_equal(budget_cell(report, "p999_ns")->u64, 1500);
	assert_int_equal(budget_cell(report, "limit_ns")->u64, 2000);
	assert_string_equal(budget_cell(report, "setting")->str,
			    "/sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us=2");
	assert_true(budget_cell(report, "deeper_ratio")->f64 == 0.6);
	assert_true(notes_say(report, "/dev/cpu_dma_latency open with 2 us"));
	assert_false(b->window.over_budget);
	report_free(report);

	/* The median of C6 would fit, its p99.9 does not. */
	b->window.budget_ns = 69000;
	report = report_of(b, NULL);
	assert_string_equal(budget_cell(report, "name")->str, "C1");
	report_free(report);

	/* The uncertainty is part of the latency. */
	b->window.budget_ns = 70000;
	report = report_of(b, NULL);
	assert_string_equal(budget_cell(report, "name")->str, "C1");
	report_free(report);
	b->window.budget_ns = 71000;
	report = report_of(b, NULL);
	assert_string_equal(budget_cell(report, "name")->str, "C6");
	assert_int_equal(budget_cell(report, "limit_ns")->kind, VALUE_NULL);
	assert_int_equal(budget_cell(report, "setting")->kind, VALUE_NULL);
	assert_true(budget_cell(report, "deeper_ratio")->f64 == 0.0);
	assert_true(notes_say(report, "no latency limit is needed"));
	report_free(report);

	/* Only polling fits: 0 in the file would mean no limit. */
	b->window.budget_ns = 1000;
	report = report_of(b, NULL);
	assert_string_equal(budget_cell(report, "name")->str, "POLL");
	assert_non_null(strstr(budget_cell(report, "setting")->str, "latency_us=n/a"));
	report_free(report);
	b->window.budget_ns = 50;
	report = report_of(b, NULL);
	assert_false(budget_cell(report, "fits")->flag);
	assert_int_equal(budget_cell(report, "name")->kind, VALUE_NULL);
	assert_true(b->window.over_budget);
	assert_true(notes_say(report, "no idle state of CPU 0 fits"));
	report_free(report);

	/* Too few points for a p99.9: unknown, which is no fit either. */
	b->window.over_budget = false;
	for (int i = 0; i < 3 * EACH; i++)
		points[i].reject = i % EACH < 900 ? WAKE_TAKEN : WAKE_REJ_LOST;
	report = report_of(b, NULL);
	assert_int_equal(budget_cell(report, "fits")->kind, VALUE_NULL);
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
	assert_string_equal(text(t, 0, "preference"), "performance");
	assert_string_equal(text(t, 1, "preference"), "power");
	assert_int_equal(table_get(t, 2, "preference")->kind, VALUE_NULL);
	assert_int_equal(table_get(t, 0, "forced")->kind, VALUE_NULL);
	assert_false(t->cols[table_find(t, "preference")].data_only);
	assert_true(t->cols[table_find(t, "forced")].data_only);
	report_free(report);
	report = points_of(b);
	t = report_find(report, "points");
	assert_string_equal(text(t, 1, "preference"), "power");
	assert_int_equal(table_get(t, 198, "preference")->kind, VALUE_NULL);
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
	assert_int_equal(cell(t, 3, "c6_ns"), 7003);
	assert_int_equal(cell(t, 2, "c6_ns"), 0);
	assert_int_equal(table_cell(t, 3, table_find(t, "pc6_ns"))->kind, VALUE_NULL);
	assert_true(table_cell(t, 3, table_find(t, "entered"))->flag);
	assert_int_equal(table_cell(t, 2, table_find(t, "entered"))->kind, VALUE_NULL);
	assert_int_equal(table_cell(t, 3, table_find(t, "package_slept"))->kind, VALUE_NULL);
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
	assert_int_equal(cell(t, 0, "prewake_ns"), 49001);
	assert_true(table_cell(t, 0, table_find(t, "significant"))->flag);
	t = report_find(report, "breakdown");
	assert_int_equal(t->nr_rows, 6);
	assert_string_equal(text(t, 0, "stage"), "exit");
	assert_string_equal(text(t, 1, "stage"), "interrupt");
	assert_string_equal(text(t, 2, "stage"), "user");
	assert_int_equal(cell(t, 1, "step_median_ns"), 440);
	report_free(report);
}

/* Unknown figures are null, with a note. */
TEST_WITH(test_unknown_overhead, setup, teardown)
{
	struct bench *b = *state;
	struct report *report;
	bool said = false;
	int col;

	b->worker.calibration.known = false;
	report = report_of(b, NULL);
	col = table_find(report->fields, "overhead_ns");
	assert_true(col >= 0);
	assert_int_equal(table_cell(report->fields, 0, col)->kind, VALUE_NULL);
	for (size_t i = 0; i < report->nr_notes; i++)
		said |= strstr(report->notes[i], "overhead of our stamp is unknown") != NULL;
	assert_true(said);
	report_free(report);
}

/* A core without calibration, as on the live screen: null, not 0. */
TEST_WITH(test_unknown_clock, setup, teardown)
{
	static const char *const keys[] = {"clock_read_ns", "clock_step_ns"};
	struct bench *b = *state;
	struct report *report;

	report = report_of(b, NULL);
	assert_int_equal(cell(report_find(report, "cpus"), 0, "clock_step_ns"), 32);
	report_free(report);
	b->worker.calibration = (struct wake_calibration){0};
	report = report_of(b, NULL);
	for (int i = 0; i < 2; i++) {
		const struct table *cpus = report_find(report, "cpus");

		assert_int_equal(table_cell(cpus, 0, table_find(cpus, keys[i]))->kind, VALUE_NULL);
	}
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
	assert_int_equal(cell(report->fields, 0, "taken_total"), 24);
	assert_int_equal(cell(report->fields, 0, "asked_total"), 24 + 7 + 3 + 1);
	t = report_find(report, "states");
	assert_int_equal(t->nr_rows, 2);
	assert_string_equal(text(t, 0, "name"), "C1");
	assert_int_equal(cell(t, 0, "count"), 20);
	assert_int_equal(cell(t, 0, "irq_first_total"), 20);
	assert_int_equal(cell(t, 0, "exit_first_total"), 0);
	assert_string_equal(text(t, 0, "verdict"), "within");
	assert_string_equal(text(t, 1, "verdict"), "exceeds");
	assert_int_equal(cell(t, 1, "max_ns"), 140000 - 60);
	assert_int_equal(cell(t, 1, "usage_total"), 77);
	report_free(report);
	/* A core without counters has null, not 0. Counters that were reset count from 0. */
	b->cpu.counted = false;
	report = report_of(b, &passive);
	t = report_find(report, "states");
	assert_int_equal(table_cell(t, 1, table_find(t, "usage_total"))->kind, VALUE_NULL);
	report_free(report);
	b->cpu.counted = true;
	b->cpu.before[2].usage = 1000;
	report = report_of(b, &passive);
	assert_int_equal(cell(report_find(report, "states"), 1, "usage_total"), 77);
	report_free(report);
	/* A state without wake-ups is shown where it is the only one, and has no figures. */
	passive.one_state = true;
	report = report_of(b, &passive);
	t = report_find(report, "states");
	assert_int_equal(t->nr_rows, 3);
	assert_int_equal(cell(t, 0, "count"), 0);
	assert_int_equal(table_cell(t, 0, table_find(t, "min_ns"))->kind, VALUE_NULL);
	assert_int_equal(table_cell(t, 0, table_find(t, "near_max_total"))->kind, VALUE_NULL);
	assert_int_equal(table_cell(t, 0, table_find(t, "near_max_ratio"))->kind, VALUE_NULL);
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
	assert_int_equal(cell(t, 0, "latency_ns"), 1000);
	assert_string_equal(text(t, 3, "rejected"), "lost");
	assert_int_equal(table_cell(t, 3, table_find(t, "latency_ns"))->kind, VALUE_NULL);
	assert_int_equal(table_cell(t, 3, table_find(t, "index"))->kind, VALUE_NULL);
	t = report_find(report, "distribution");
	assert_int_equal(cell(t, t->nr_rows - 1, "count"), POINTS / 2 - 1);
	report_free(report);
}

TEST_MAIN()
