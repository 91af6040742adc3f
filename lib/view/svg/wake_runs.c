/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gathers the points of two runs in one table, and makes their plots. */
#include "view/svg/wake_runs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


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
