/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the plots of `subtick wake`: by core, source, idle state and run. */
#include "wake_bench.h"

#include "view/svg/plots.h"

/* Number of curves: a curve begins where the cumulative count decreases. */
static unsigned int curves(const struct table *t)
{
	unsigned int nr = t->nr_rows > 0;

	for (size_t i = 1; i < t->nr_rows; i++)
		nr += table_number(t, i, "count") < table_number(t, i - 1, "count");
	return nr;
}

static char *drawn(const struct report *report)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(wake_plot(out, report, NULL), 0);
	fclose(out);
	return text;
}

/* Each idle state has its colour, curve and box. C1 and C6 have 100 wake-ups each. */
TEST_WITH(test_rounds_plot, setup, teardown)
{
	struct bench *b = *state;
	struct report *report;
	const struct table *t;
	char *svg;

	b->run.plan.rounds = &(struct wake_rounds){.nr = 3};
	for (int i = 0; i < POINTS; i++)
		b->points[i].round = i % 2 ? 2 : i < 100 ? 1 : 3;
	report = points_of(b);
	t = report_find(report, "distribution");
	expect_row(t, 0, "name=C1");
	expect_row(t, t->nr_rows - 1, "name=C6 count=100");
	assert_true(table_number(t, 0, "le_ns") < 2000 &&
		    table_number(t, t->nr_rows - 1, "le_ns") > 50000);
	t = report_find(report, "boxes");
	/*
	 * The table has five latencies for each of 3 states × 2 sources. Rows 5 to 9 are wake-ups
	 * from C1 by the timer.
	 */
	assert_int_equal(t->nr_rows, 30);
	expect_row(t, 5, "name=C1 latency_ns=1000");
	expect_row(t, 6, "latency_ns=1025");
	expect_row(t, 8, "latency_ns=1074");
	expect_row(t, 9, "latency_ns=1098");
	svg = drawn(report);
	assert_non_null(strstr(svg, ">C1</text>"));
	assert_non_null(strstr(svg, ">C6</text>"));
	assert_non_null(strstr(svg, "quartiles"));
	assert_null(strstr(svg, "timer"));
	free(svg);
	report_free(report);
}

TEST_WITH(test_distribution, setup, teardown)
{
	struct wake_worker workers[WAKE_PLOT_CORES + 4];
	struct bench *b = *state;
	struct report *report;
	const struct table *t;
	char *svg;

	for (size_t i = 0; i < sizeof(workers) / sizeof(workers[0]); i++) {
		workers[i] = b->worker;
		workers[i].cpu = i;
	}
	b->env.cpus = calloc(WAKE_PLOT_CORES + 4, sizeof(*b->env.cpus));
	b->run.workers = workers;
	b->run.nr_workers = 2;
	report = points_of(b);
	t = report_find(report, "distribution");
	assert_int_equal(curves(t), 2);
	expect_row(t, t->nr_rows - 1, "count=200");
	svg = drawn(report);
	assert_true(strstr(svg, "timer") && strstr(svg, "remote"));
	free(svg);
	report_free(report);

	for (int i = 0; i < POINTS; i++)
		b->points[i].source = WAKE_TIMER;
	b->run.plan.sources = 1u << WAKE_TIMER;
	report = points_of(b);
	t = report_find(report, "distribution");
	assert_int_equal(curves(t), 2);
	expect_row(t, t->nr_rows - 1, "count=200 cpu=1");
	svg = drawn(report);
	assert_true(strstr(svg, "CPU 0") && strstr(svg, "CPU 1"));
	free(svg);
	report_free(report);

	b->run.nr_workers = WAKE_PLOT_CORES + 4;
	report = points_of(b);
	t = report_find(report, "distribution");
	assert_int_equal(curves(t), 1);
	assert_int_equal(table_number(t, t->nr_rows - 1, "count"), POINTS * (WAKE_PLOT_CORES + 4));
	svg = drawn(report);
	assert_null(strstr(svg, "CPU 1"));
	free(svg);
	report_free(report);
	free(b->env.cpus);
}

/*
 * Returns the report of another machine with the wake-ups of @b, a residency counter for C6, and
 * latencies that are 10 ns longer.
 */
static struct report *other_machine(struct bench *b, uint32_t *ns)
{
	struct report *report;

	for (int i = 0; i < POINTS; i++) {
		ns[i] = 100000 + i;
		b->points[i].latency_ns += 10;
	}
	b->worker.depth.ns = ns;
	b->worker.depth.nr_columns = 1;
	strcpy(b->worker.depth.name[0], "C6");
	strcpy(b->env.machine.machine.host, "sklep0");
	report = points_of(b);
	b->worker.depth.nr_columns = 0;
	return report;
}

/*
 * Draws figures 5 and 6 of the thesis that docs/methods/wake.md cites: latency and residency of two
 * machines by idle time.
 */
TEST_WITH(test_two_machines, setup, teardown)
{
	struct bench *b = *state;
	struct report *here = points_of(b), *there;
	uint32_t ns[POINTS];
	char *text, *svg;
	size_t length;
	FILE *out;

	there = other_machine(b, ns);
	assert_null(wake_depth_key(report_find(here, "points")));
	assert_string_equal(wake_depth_key(report_find(there, "points")), "c6_ns");
	text = drawn(here);
	assert_int_equal(times_in(text, "Residency against"), 0);
	assert_int_equal(times_in(text, "by run"), 0);
	free(text);
	text = drawn(there);
	assert_true(times_in(text, "Residency against silent time") > 0);
	free(text);
	text = drawn(here);
	out = open_memstream(&svg, &length);
	assert_int_equal(wake_plot(out, here, there), 0);
	fclose(out);
	assert_true(times_in(svg, "Wake latency against silent time, by run") > 0);
	assert_true(times_in(svg, "Residency against silent time, by run") > 0);
	assert_true(times_in(svg, "sklep0 (a model): c6") > 0);
	assert_int_equal(times_in(svg, "run 1 (a model): no residency counter"), 1);
	/* Only the run of sklep0 has a residency counter. */
	assert_int_equal(times_in(svg, "<circle") - times_in(text, "<circle"), 3 * POINTS);
	free(text);
	free(svg);
	report_free(here);
	report_free(there);
}

TEST_MAIN()
