/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares the output of every view with reviewed files, byte by byte. UPDATE_GOLDEN=1 rewrites the
 * reviewed files; read the difference before you commit the reviewed files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "sample.h"
#include "view/svg/svg.h"
#include "view/view.h"

static const struct svg_series runq_series[] = {
	{.table = "le", .where = "cgroup_id", .equals = "4711", .x = "le_ns", .y = "count",
	 .mark = SVG_BARS_LE, .label = "getty"},
	{.table = "le", .where = "cgroup", .equals = "/quo\"te,comma;semi", .x = "le_ns",
	 .y = "count", .mark = SVG_BARS_LE, .label = "<quo\"te> & \033 \xff"},
};
static const struct svg_series avg_series[] = {
	{.table = "groups", .x = "avg_ns", .y = "p99_ns", .mark = SVG_POINTS},
	{.table = "groups", .x = "avg_ns", .y = "max_ns", .mark = SVG_LINE},
};
static const struct svg_series none_series[] = {
	{.table = "blame", .x = "wait_ns", .y = "wait_ns"},
};
static const struct svg_plot runq_plots[] = {
	{.title = "logarithmic", .x_label = "wait", .x_log = true, .y_log = true,
	 .series = runq_series, .nr_series = 2},
	{.title = "linear", .y_label = "waits", .series = runq_series, .nr_series = 1},
	{.title = "points and a line", .x_log = true, .series = avg_series, .nr_series = 2},
	{.title = "empty", .series = none_series, .nr_series = 1},
};

static const struct svg_series ratio_series[] = {
	{.table = "cpus", .x = "cpu", .y = "compare.procidle_busy_ratio", .mark = SVG_BARS},
};
static const struct svg_plot ratio_plots[] = {
	{.title = "thin bars, per cent", .series = ratio_series, .nr_series = 1},
};

/* Golden files that contain plots, and the definitions of the plots. */
static const struct {
	const char *file;
	const struct svg_plot *plots;
	size_t nr;
} drawn[] = {
	{"runq.svg", runq_plots, 4},
	{"compare.svg", ratio_plots, 1},
};

/* Returns the histograms of sample_runq() as rows of one table, for a plot. */
static struct report *sample_le(void)
{
	struct report *report = sample_runq();
	const struct table *groups = report_find(report, "groups");
	struct table *le = report_table(report, "le", NULL);
	int nested = table_find(groups, "le");

	table_col_as(le, M_CPU, "cgroup_id", "id");
	table_col(le, M_CGROUP);
	table_col(le, M_BURST_LE_NS);
	table_col(le, M_COUNT);
	for (size_t row = 0; row < groups->nr_rows; row++) {
		const struct value *cell = table_cell(groups, row, nested);

		for (size_t i = 0; cell->kind == VALUE_TABLE && i < cell->table->nr_rows; i++) {
			size_t to = table_row(le);

			value_u64(table_cell(le, to, 0), table_number(groups, row, "cgroup_id"));
			value_str(table_cell(le, to, 1), table_str(groups, row, "cgroup"));
			value_f64(table_cell(le, to, 2), table_number(cell->table, i, "le_ns"));
			value_f64(table_cell(le, to, 3), table_number(cell->table, i, "count"));
		}
	}
	return report;
}

static const struct golden {
	const char *file;
	struct report *(*make)(void);
	struct view view;
	unsigned int times; /* number of times that the report is printed (0 is the same as 1) */
} goldens[] = {
	{"runq.svg", sample_le, {0}, 0},
	{"compare.svg", sample_compare, {0}, 0},
	{"load.txt", sample_load, {.format = VIEW_TEXT}, 0},
	{"load-narrow.txt", sample_load, {.format = VIEW_TEXT, .bars = true, .width = 80}, 0},
	{"load-color.txt",
	 sample_load,
	 {.format = VIEW_TEXT, .bars = true, .color = true, .width = 80},
	 0},
	{"load-color-plain.txt", sample_load, {.format = VIEW_TEXT, .color = true}, 0},
	{"load-repeated.txt", sample_load, {.format = VIEW_TEXT, .bars = true, .width = 200}, 3},
	{"load.json", sample_load, {.format = VIEW_JSON}, 2},
	{"load.csv", sample_load, {.format = VIEW_CSV}, 2},
	{"compare.txt", sample_compare, {.format = VIEW_TEXT}, 2},
	{"compare-all.txt", sample_compare, {.format = VIEW_TEXT, .all = true}, 0},
	{"compare.json", sample_compare, {.format = VIEW_JSON}, 0},
	{"compare.csv", sample_compare, {.format = VIEW_CSV}, 2},
	{"doctor.txt", sample_doctor, {.format = VIEW_TEXT}, 0},
	{"doctor-narrow.txt", sample_doctor, {.format = VIEW_TEXT, .width = 72, .color = true}, 0},
	{"doctor.json", sample_doctor, {.format = VIEW_JSON}, 0},
	{"doctor.csv", sample_doctor, {.format = VIEW_CSV}, 0},
	{"runq.txt", sample_runq, {.format = VIEW_TEXT}, 0},
	{"runq-narrow.txt", sample_runq, {.format = VIEW_TEXT, .width = 60, .all = true}, 0},
	{"runq.json", sample_runq, {.format = VIEW_JSON}, 0},
	{"runq.csv", sample_runq, {.format = VIEW_CSV}, 0},
	{"try.txt", sample_try, {.format = VIEW_TEXT}, 0},
	{"try.json", sample_try, {.format = VIEW_JSON}, 0},
	{"edges.txt", sample_edges, {.format = VIEW_TEXT}, 2},
	{"edges.json", sample_edges, {.format = VIEW_JSON}, 0},
	{"edges.csv", sample_edges, {.format = VIEW_CSV}, 0},
	{"diff.txt", sample_diff, {.format = VIEW_TEXT}, 0},
	{"diff-all.txt", sample_diff_all, {.format = VIEW_TEXT}, 0},
	{"diff.json", sample_diff_all, {.format = VIEW_JSON}, 0},
	{"diff.csv", sample_diff_all, {.format = VIEW_CSV}, 0},
};

#define NR (sizeof(goldens) / sizeof(goldens[0]))

static int render_one(const struct golden *golden, struct view *view, const struct report *report)
{
	for (size_t i = 0; i < sizeof(drawn) / sizeof(drawn[0]); i++)
		if (!strcmp(drawn[i].file, golden->file))
			return svg_write(view->out, report, drawn[i].plots, drawn[i].nr);
	return view_write(view, report);
}

static int render(const struct golden *golden, char **ret_text, size_t *ret_size)
{
	struct view view = golden->view;
	int rc = 0;

	view.out = open_memstream(ret_text, ret_size);
	if (!view.out)
		return -errno;
	for (unsigned int i = 0; !rc && i < (golden->times ?: 1); i++) {
		struct report *report = golden->make();

		rc = render_one(golden, &view, report);
		report_free(report);
	}
	return fclose(view.out) ? -errno : rc;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY-OF-GOLDEN-FILES\n", argv[0]);
		return 64;
	}
	/* Set the time zone, because the head of a report shows local time. */
	setenv("TZ", "UTC", 1);
	printf("1..%zu\n", NR);
	for (size_t i = 0; i < NR; i++) {
		char *text = NULL;
		size_t size = 0;
		int rc = render(&goldens[i], &text, &size);

		if (rc)
			printf("# view_write: %s\n", strerror(-rc));
		failed |=
			golden_tap(i + 1, !rc && golden_same(argv[1], goldens[i].file, text, size),
				   goldens[i].file);
		free(text);
	}
	return failed;
}
