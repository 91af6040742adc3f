/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the axes of SVG plots, and plots of tables and columns that do not exist. */
#include "report_rows.h"

#include "view/svg/plots.h"
#include "view/svg/svg.h"

static void label_is(const struct svg_axis *axis, size_t tick, const char *want)
{
	char label[32];

	assert_true(tick < axis->nr_ticks);
	svg_axis_label(axis, axis->tick[tick], label, sizeof(label));
	assert_string_equal(label, want);
}

TEST(axis_linear)
{
	struct svg_axis axis;

	svg_axis_init(&axis, UNIT_NS, false, 0.0, 11.3e9);
	assert_string_equal(axis.unit, "s");
	label_is(&axis, 0, "0");
	label_is(&axis, 1, "2");
	label_is(&axis, axis.nr_ticks - 1, "12");
	axis.at = 100;
	axis.length = 120;
	assert_true(svg_axis_pixel(&axis, 6e9) == 160.0);

	svg_axis_init(&axis, UNIT_RATIO, false, -0.031, 0.004);
	assert_string_equal(axis.unit, "%");
	label_is(&axis, 0, "-3.5");
	label_is(&axis, 7, "0.0");
	label_is(&axis, axis.nr_ticks - 1, "0.5");
}

TEST(axis_log)
{
	struct svg_axis axis;

	svg_axis_init(&axis, UNIT_NS, true, 900.0, 2.5e6);
	assert_string_equal(axis.unit, "");
	label_is(&axis, 0, "100 ns");
	label_is(&axis, 1, "1 µs");
	label_is(&axis, axis.nr_ticks - 1, "10 ms");
	axis.at = 0;
	axis.length = -50;
	assert_true(svg_axis_pixel(&axis, axis.high) == -50.0);
	assert_true(svg_axis_pixel(&axis, 1e4) > -21.0 && svg_axis_pixel(&axis, 1e4) < -19.0);

	svg_axis_init(&axis, UNIT_COUNT, true, 1.0, 1e300);
	assert_true(axis.nr_ticks > 3 && axis.nr_ticks <= SVG_MAX_TICKS);
}

TEST(axis_flat)
{
	static const double values[] = {0.0, 5.0, -5.0, 1e12};
	struct svg_axis axis;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		svg_axis_init(&axis, UNIT_COUNT, false, values[i], values[i]);
		assert_true(axis.low < values[i] && values[i] < axis.high);
		assert_true(axis.nr_ticks >= 2);
	}
	svg_axis_init(&axis, UNIT_COUNT, true, 3.0, 3.0);
	assert_true(axis.low < 3.0 && 3.0 < axis.high && axis.low > 0.0);
}

TEST(keys_that_name_nothing)
{
	static const struct svg_series bad[] = {
		{.table = "nope", .x = "count", .y = "count"},
		{.table = "t", .x = "nope", .y = "count"},
		{.table = "t", .x = "count", .y = "nope"},
		{.table = "t", .x = "count", .x_end = "nope", .y = "count"},
		{.table = "t", .where = "nope", .equals = "1", .x = "count", .y = "count"},
	};
	static const struct svg_series good = {
		.table = "t", .where = "count", .equals = "7", .x = "count", .y = "count"};
	struct report *report = report_new("test");
	struct table *table = report_table(report, "t", NULL);
	struct svg_plot plot = {.title = "x", .nr_series = 1};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	table_col(table, M_COUNT);
	value_u64(table_cell(table, table_row(table), 0), 7);
	value_u64(table_cell(table, table_row(table), 0), 8);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		plot.series = &bad[i];
		assert_int_equal(svg_write(out, report, &plot, 1), -EINVAL);
	}
	rewind(out);
	plot.series = &good;
	assert_int_equal(svg_write(out, report, &plot, 1), 0);
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(text, "<circle"));
	assert_null(strstr(strstr(text, "<circle") + 1, "<circle"));
	free(text);
	report_free(report);
}

/*
 * The width of the legend is computed from escaped characters, so two names of 20 control
 * characters need two lines.
 */
TEST(legend_of_escapes)
{
	static const char bells[] = "\a\a\a\a\a\a\a\a\a\a\a\a\a\a\a\a\a\a\a\a";
	static const struct svg_series series[] = {
		{.table = "t", .x = "count", .y = "count", .label = bells},
		{.table = "t", .x = "count", .y = "count", .label = bells},
	};
	struct svg_plot plot = {.title = "x", .series = series, .nr_series = 2};
	struct report *report = report_new("test");
	struct table *table = report_table(report, "t", NULL);
	char *text = NULL, *second;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	table_col(table, M_COUNT);
	value_u64(table_cell(table, table_row(table), 0), 7);
	assert_int_equal(svg_write(out, report, &plot, 1), 0);
	assert_int_equal(fclose(out), 0);
	second = strstr(text, ">\\x07");
	assert_non_null(second);
	second = strstr(second + 1, ">\\x07");
	assert_non_null(second);
	while (*second != '<')
		second--;
	assert_int_equal(strncmp(second, "<text x=\"102.0\"", 15), 0);
	free(text);
	report_free(report);
}

static char *plot_of(const struct report *report)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(audit_plot(out, &audit_figures_delays, report), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* A plot has a curve for each timer slack in the rows. */
TEST(curves_of_slacks)
{
	static const enum metric_id ids[] = {M_DELAY_NS,	 M_SLACK_NS,
					     M_REAL_EACH_NS,	 M_USER_EACH_NS,
					     M_SYSTEM_EACH_NS,	 M_TRUE_EACH_NS,
					     M_PROCSTAT_FACTOR_RATIO, M_RUSAGE_FACTOR_RATIO};
	struct report *report = report_new("audit");
	struct table *table = report_table(report, "delays", NULL);
	char *text;

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		table_col(table, ids[i]);
	for (size_t i = 0; i < 4; i++) {
		size_t row = table_row(table);

		for (size_t col = 0; col < table->nr_cols; col++)
			value_u64(table_cell(table, row, col), 1000 + i);
		value_u64(table_cell(table, row, 1), i % 2 ? 50000 : 1);
	}
	text = plot_of(report);
	assert_int_equal(times_in(text, ">real, slack 1 ns</text>"), 2);
	assert_int_equal(times_in(text, ">real, slack 50.0 us</text>"), 2);
	assert_int_equal(times_in(text, ">expected: the delay</text>"), 1);
	/* The five plots have 3, 6, 4, 3 and 4 curves, and each curve has two points. */
	assert_int_equal(times_in(text, "<path fill=\"none\""), 3 + 6 + 4 + 3 + 4);
	assert_int_equal(times_in(text, "<circle"), 2 * (3 + 6 + 4 + 3 + 4));
	assert_int_equal(times_in(text, "figure 4 of the paper, which is with slack 50.0 us"), 2);
	free(text);
	for (size_t i = 0; i < 4; i++)
		value_u64(table_cell(table, i, 1), 1);
	text = plot_of(report);
	assert_int_equal(times_in(text, ">real</text>"), 2);
	/*
	 * If the timer slack differs from the 50 us of the paper in docs/methods/audit.md, the
	 * title has both values.
	 */
	assert_int_equal(
		times_in(text, "figure 4 of the paper, timer slack 1 ns instead of 50.0 us"), 2);
	assert_int_equal(times_in(text, ">Run time of one loop</text>"), 1);
	free(text);
	for (size_t i = 0; i < 4; i++)
		value_u64(table_cell(table, i, 1), 50000);
	text = plot_of(report);
	assert_int_equal(times_in(text, "figure 5 of the paper, timer slack 50.0 us<"), 2);
	free(text);
	report_free(report);
}

TEST(stream_errors)
{
	struct report *report = report_new("test");
	FILE *full = fopen("/dev/full", "w");

	if (!full)
		skip();
	assert_true(svg_write(full, report, NULL, 0) < 0);
	fclose(full);
	report_free(report);
}

TEST_MAIN()
