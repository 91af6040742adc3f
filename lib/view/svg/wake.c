/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plots of `subtick wake --plot`, optionally compared with an earlier run. */
#include "view/svg/plots.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define RUN_NAME 112

const char *wake_depth_key(const struct table *points)
{
	const char *found = NULL;
	long deepest = -1;

	array_for_each(col, points->cols, points->nr_cols) {
		const char *key = col->key;
		char *end;
		long number;

		/* Skip package states such as "pc6_ns", but not core states such as "c6_ns". */
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

/* Name of a run: host and CPU model in its report, or "run N" if the report has no host. */
static void run_name(const struct report *const *reports, size_t index, char *buf, size_t size)
{
	const struct report *report = reports[index];
	const char *model = table_str(report->fields, 0, "machine.cpu_model"),
		   *host = host_of(report);
	size_t number = 1;
	char nth[24] = "";

	/* The name of a later run on the same machine contains a number. */
	for (size_t i = 0; i < index; i++)
		number += !strcmp(host_of(reports[i]), host);
	if (number > 1 || !strcmp(host, "run"))
		snprintf(nth, sizeof(nth), " %zu", number);
	if (model)
		snprintf(buf, size, "%.24s%s (%.64s)", host, nth, model);
	else
		snprintf(buf, size, "%.24s%s", host, nth);
}

/* Series that compare two runs over silent time (from idle entry to the launch of a wake-up). */
struct both_runs {
	char name[2][RUN_NAME], depth_name[2][RUN_NAME + 32];
	struct svg_series latency[2], depth[2];
	bool has_depth;
};

static void add_run(struct both_runs *runs, const struct report *const *reports, size_t index)
{
	const char *depth = wake_depth_key(report_find(reports[index], "points"));

	run_name(reports, index, runs->name[index], RUN_NAME);
	snprintf(runs->depth_name[index], sizeof(runs->depth_name[0]), "%s: %.*s", runs->name[index],
		 depth ? (int)strlen(depth) - 3 : 20, depth ?: "no residency counter");
	runs->latency[index] = (struct svg_series){.from = reports[index],
						   .table = "points",
						   .x = "silent_ns",
						   .y = "latency_ns",
						   .label = runs->name[index],
						   .mark = SVG_POINTS};
	runs->depth[index] = runs->latency[index];
	runs->depth[index].label = runs->depth_name[index];
	if (depth) {
		runs->depth[index].y = depth;
		runs->has_depth = true;
	} else {
		/*
		 * Without a residency counter, source "" matches no row, so the plot shows the run
		 * only in the legend.
		 */
		runs->depth[index].where = "source";
		runs->depth[index].equals = "";
	}
}

static bool any_forced(const struct table *points)
{
	for (size_t row = 0; row < points->nr_rows; row++)
		if (table_str(points, row, "forced"))
			return true;
	return false;
}

/*
 * Chooses the column that splits the series into curves: the idle state if idle states were forced,
 * the CPU if the report has distributions per CPU, else the source.
 */
static void choose_split(const struct report *report, struct svg_series *series)
{
	const struct table *points = report_find(report, "points"),
			   *distribution = report_find(report, "distribution");
	size_t row;

	series->split_in = "points";
	if (any_forced(points)) {
		series->split = "name";
	} else if (svg_values(distribution, table_find(distribution, "cpu"), &row, 1)) {
		series->split = "cpu";
		series->split_in = "distribution";
	} else {
		series->split = "source";
	}
}

#define SPLIT_PLOTS 6

int wake_plot(FILE *out, const struct report *points, const struct report *earlier)
{
	const struct report *both[] = {points, earlier};
	const struct table *table = report_find(points, "points");
	const struct {
		struct svg_plot plot;
		struct svg_series series;
	} parts[SPLIT_PLOTS] = {
		{{.title = "Wake latency in the order of the points"},
		 {.table = "points", .x = "point", .y = "latency_ns"}},
		/* All cores measure the same launch distances, so only the first core is drawn. */
		{{.title = "Launch distance of the same points"},
		 {.table = "points",
		  .x = "point",
		  .y = "distance_ns",
		  .split = "cpu",
		  .first_only = true}},
		{{.title = "Wake latency against silent time", .x_log = true},
		 {.table = "points", .x = "silent_ns", .y = "latency_ns"}},
		{{.title = "Distribution of wake latency", .x_log = true},
		 {.table = "distribution", .x = "le_ns", .y = "count", .mark = SVG_BARS_LE}},
		{{.title = "Minimum, quartiles and maximum of each idle state", .y_log = true},
		 {.table = "boxes", .x = "index", .y = "latency_ns", .mark = SVG_LINE}},
		{{.title = "Residency against silent time", .x_log = true},
		 {.table = "points", .x = "silent_ns", .y = table ? wake_depth_key(table) : NULL}},
	};
	struct svg_series series[SPLIT_PLOTS];
	struct svg_plot plots[SPLIT_PLOTS + 2];
	struct both_runs runs = {0};
	size_t nr = 0;

	if (!table || !report_find(points, "distribution") ||
	    (earlier && !report_find(earlier, "points")))
		return -EINVAL;
	array_for_each(part, parts, SPLIT_PLOTS) {
		if (!part->series.y || !report_find(points, part->series.table))
			continue;
		series[nr] = part->series;
		if (!series[nr].split)
			choose_split(points, &series[nr]);
		plots[nr] = part->plot;
		plots[nr].series = &series[nr];
		plots[nr++].nr_series = 1;
	}
	for (size_t i = 0; earlier && i < 2; i++)
		add_run(&runs, both, i);
	if (earlier)
		plots[nr++] = (struct svg_plot){.title = "Wake latency against silent time, by run",
						.x_log = true,
						.series = runs.latency,
						.nr_series = 2};
	if (runs.has_depth)
		plots[nr++] = (struct svg_plot){.title = "Residency against silent time, by run",
						.x_log = true,
						.series = runs.depth,
						.nr_series = 2};
	return svg_write(out, points, plots, nr);
}
