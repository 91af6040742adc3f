/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plots of `subtick wake --plot`: the points of one run, and of two runs in one plot. */
#include "view/svg/wake.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SERIES 8

const char *wake_depth_key(const struct table *points)
{
	const char *found = NULL;
	long deepest = -1;

	for (size_t i = 0; i < points->nr_cols; i++) {
		const char *key = points->cols[i].key;
		char *end;
		long number;

		/* "c6_ns" is the core's; a package has "pc6_ns". */
		if (key[0] != 'c' || key[1] < '0' || key[1] > '9')
			continue;
		number = strtol(key + 1, &end, 10);
		if (!strcmp(end, "_ns") && number > deepest) {
			found = key;
			deepest = number;
		}
	}
	return found ?: table_find(points, "cpuidle_ns") >= 0 ? "cpuidle_ns" : NULL;
}

static const char *host_of(const struct report *report)
{
	return table_str(report->fields, 0, "machine.host") ?: "run";
}

/* Host and CPU model of a report, by its keys machine.*; "run N" without. */
static void wake_run_name(const struct report *const *reports, size_t index, char *buf, size_t size)
{
	const struct report *report = reports[index];
	const char *model = table_str(report->fields, 0, "machine.cpu_model"),
		   *host = host_of(report);
	size_t number = 1;
	char nth[24] = "";

	/* Runs of one machine get their numbers, the first as well if it has no name. */
	for (size_t i = 0; i < index; i++)
		number += !strcmp(reports[i]->command, report->command) &&
			  !strcmp(host_of(reports[i]), host);
	if (number > 1 || !strcmp(host, "run"))
		snprintf(nth, sizeof(nth), " %zu", number);
	if (model)
		snprintf(buf, size, "%.24s%s (%.64s)", host, nth, model);
	else
		snprintf(buf, size, "%.24s%s", host, nth);
}

static void add_run(struct wake_runs *runs, const struct report *const *reports, size_t index,
		    struct table *all)
{
	const struct table *points = report_find(reports[index], "points");
	const char *depth = wake_depth_key(points);
	char label[sizeof(runs->depth_label[0])];

	wake_run_name(reports, index, runs->name[runs->nr], WAKE_RUN_NAME);
	snprintf(label, sizeof(label), "%s: %.*s", runs->name[runs->nr],
		 depth ? (int)strlen(depth) - 3 : 0, depth ?: "");
	strcpy(runs->depth_label[runs->nr], label);
	for (size_t row = 0; row < points->nr_rows && !*all->failed; row++) {
		double latency = table_number(points, row, "latency_ns");
		size_t at;

		if (isnan(latency))
			continue;
		at = table_row(all);
		value_str(table_cell(all, at, 0), runs->name[runs->nr]);
		value_f64(table_cell(all, at, 1), table_number(points, row, "silent_ns"));
		value_f64(table_cell(all, at, 2), latency);
		if (depth)
			value_f64(table_cell(all, at, 3), table_number(points, row, depth));
	}
	runs->depths |= depth != NULL;
	runs->nr++;
}

static void draw_runs(struct wake_runs *runs)
{
	for (size_t i = 0; i < runs->nr; i++) {
		runs->latency[i] = (struct svg_series){.table = "runs",
						       .where = "run",
						       .equals = runs->name[i],
						       .x = "silent_ns",
						       .y = "latency_ns",
						       .label = runs->name[i],
						       .mark = SVG_POINTS};
		runs->depth[i] = runs->latency[i];
		runs->depth[i].y = "depth_ns";
		runs->depth[i].label = runs->depth_label[i];
	}
	runs->plots[0] = (struct svg_plot){.title = "Wake latency against silent time, by run",
					   .x_log = true,
					   .series = runs->latency,
					   .nr_series = runs->nr};
	runs->plots[1] = (struct svg_plot){.title = "Residency against silent time, by run",
					   .x_log = true,
					   .series = runs->depth,
					   .nr_series = runs->nr};
	runs->nr_plots = runs->depths ? 2 : 1;
}

int wake_runs_make(struct wake_runs *runs, const struct report *const *reports, size_t nr_reports)
{
	struct table *all;

	*runs = (struct wake_runs){.report = report_new("wake.points")};
	if (!runs->report)
		return -ENOMEM;
	all = report_table(runs->report, "runs", NULL);
	table_col(all, M_WAKE_RUN);
	table_col(all, M_WAKE_POINT_SILENT_NS);
	table_col(all, M_WAKE_LATENCY_NS);
	table_col(all, M_WAKE_DEPTH_NS);
	for (size_t i = 0; i < nr_reports && runs->nr < WAKE_MAX_RUNS; i++)
		if (!strcmp(reports[i]->command, "wake.points") && report_find(reports[i], "points"))
			add_run(runs, reports, i, all);
	draw_runs(runs);
	return report_check(runs->report);
}

void wake_runs_free(struct wake_runs *runs)
{
	report_free(runs->report);
	*runs = (struct wake_runs){0};
}

/* One series per core; for the distribution, one per source over all cores. */
struct split {
	const char *key;
	char value[MAX_SERIES][16];
	char label[MAX_SERIES][24];
	size_t nr;
};

static void split_add(struct split *split, const struct value *cell)
{
	char text[16] = "";

	if (cell->kind == VALUE_U64)
		snprintf(text, sizeof(text), "%llu", (unsigned long long)cell->u64);
	else if (cell->kind == VALUE_STR)
		snprintf(text, sizeof(text), "%s", cell->str);
	for (size_t i = 0; i < split->nr; i++)
		if (!strcmp(split->value[i], text))
			return;
	if (split->nr == MAX_SERIES || !text[0])
		return;
	strcpy(split->value[split->nr], text);
	snprintf(split->label[split->nr], sizeof(split->label[0]),
		 cell->kind == VALUE_U64 ? "CPU %s" : "%s", text);
	split->nr++;
}

static void split_by(struct split *split, const struct table *table, const char *key)
{
	int col = table_find(table, key);

	*split = (struct split){.key = key};
	for (size_t row = 0; col >= 0 && row < table->nr_rows; row++)
		split_add(split, table_cell(table, row, col));
}

static size_t series_of(const struct split *split, const char *table, const char *x, const char *y,
			enum svg_mark mark, struct svg_series *series)
{
	for (size_t i = 0; i < split->nr; i++)
		series[i] = (struct svg_series){.table = table,
						.where = split->key,
						.equals = split->value[i],
						.x = x,
						.y = y,
						.label = split->label[i],
						.mark = mark};
	return split->nr;
}

/* The report's tables and one more: svg_write() draws from one report. */
static int write_with(FILE *out, const struct report *points, const struct wake_runs *runs,
		      const struct svg_plot *plots, size_t nr_plots)
{
	struct report all = *points;
	int rc;

	all.tables = calloc(points->nr_tables + 1, sizeof(struct table *));
	if (!all.tables)
		return -ENOMEM;
	memcpy(all.tables, points->tables, points->nr_tables * sizeof(struct table *));
	if (runs)
		all.tables[all.nr_tables++] = runs->report->tables[0];
	rc = svg_write(out, &all, plots, nr_plots);
	free(all.tables);
	return rc;
}

#define OWN_PLOTS 5

int wake_plot(FILE *out, const struct report *points, const struct report *earlier)
{
	const struct report *both[] = {points, earlier};
	const struct table *table = report_find(points, "points");
	struct svg_series by_time[MAX_SERIES], by_silent[MAX_SERIES], spread[MAX_SERIES],
		depth[MAX_SERIES];
	struct svg_series distance = {.table = "points",
				      .x = "point",
				      .y = "distance_ns",
				      .where = "cpu",
				      .mark = SVG_POINTS};
	struct split split, cpus;
	struct svg_plot plots[OWN_PLOTS + 2] = {
		{.title = "Wake latency in the order of the points", .series = by_time},
		{.title = "Launch distance of the same points",
		 .series = &distance,
		 .nr_series = 1},
		{.title = "Wake latency against silent time", .x_log = true, .series = by_silent},
		{.title = "Distribution of wake latency", .x_log = true, .series = spread},
		{.title = "Residency against silent time", .x_log = true, .series = depth},
	};
	size_t nr_plots = OWN_PLOTS;
	struct wake_runs runs = {0};
	const char *key;
	int rc = 0;

	if (!table || !report_find(points, "distribution"))
		return -EINVAL;
	split_by(&cpus, table, "cpu");
	split_by(&split, report_find(points, "distribution"), "cpu");
	if (!split.nr)
		split_by(&split, table, "source");
	/* All cores run the same sweep. */
	distance.equals = cpus.nr ? cpus.value[0] : "";
	plots[0].nr_series =
		series_of(&split, "points", "point", "latency_ns", SVG_POINTS, by_time);
	plots[2].nr_series =
		series_of(&split, "points", "silent_ns", "latency_ns", SVG_POINTS, by_silent);
	plots[3].nr_series =
		series_of(&split, "distribution", "le_ns", "count", SVG_BARS_LE, spread);
	key = wake_depth_key(table);
	if (key)
		plots[4].nr_series =
			series_of(&split, "points", "silent_ns", key, SVG_POINTS, depth);
	else
		nr_plots--;
	if (earlier) {
		rc = wake_runs_make(&runs, both, 2);
		memcpy(plots + nr_plots, runs.plots, runs.nr_plots * sizeof(*plots));
		nr_plots += runs.nr_plots;
	}
	if (!rc)
		rc = write_with(out, points, earlier ? &runs : NULL, plots, nr_plots);
	wake_runs_free(&runs);
	return rc;
}
