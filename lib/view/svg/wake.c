/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plots of `subtick wake --plot`, optionally compared with an earlier run. */
#include "view/svg/plots.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of series: exceeds WAKE_PLOT_CORES and the idle states of any machine. */
#define MAX_SERIES 64
#define RUN_NAME   112

const char *wake_depth_key(const struct table *points)
{
	const char *found = NULL;
	long deepest = -1;

	for (size_t i = 0; i < points->nr_cols; i++) {
		const char *key = points->cols[i].key;
		char *end;
		long number;

		/*
		 * Keys of core states look like "c6_ns". Package states such as "pc6_ns" are
		 * skipped.
		 */
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

/* Name of a run: host and CPU model of its report, or "run N" without a host. */
static void run_name(const struct report *const *reports, size_t index, char *buf, size_t size)
{
	const struct report *report = reports[index];
	const char *model = table_str(report->fields, 0, "machine.cpu_model"),
		   *host = host_of(report);
	size_t number = 1;
	char nth[24] = "";

	/* Runs on the same machine get a number. */
	for (size_t i = 0; i < index; i++)
		number += !strcmp(host_of(reports[i]), host);
	if (number > 1 || !strcmp(host, "run"))
		snprintf(nth, sizeof(nth), " %zu", number);
	if (model)
		snprintf(buf, size, "%.24s%s (%.64s)", host, nth, model);
	else
		snprintf(buf, size, "%.24s%s", host, nth);
}

/* One series for each value of column @key: an idle state, core or source. */
struct split {
	const char *key;
	char value[MAX_SERIES][32];
	char label[MAX_SERIES][40];
	size_t nr;
};

static void split_add(struct split *split, const struct value *cell)
{
	char text[sizeof(split->value[0])] = "";

	if (cell->kind == VALUE_U64)
		snprintf(text, sizeof(text), "%llu", (unsigned long long)cell->u64);
	else if (cell->kind == VALUE_STR)
		snprintf(text, sizeof(text), "%.31s", cell->str);
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

/* Series of the plots that compare this run with the earlier run, by silent time. */
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
		/* A source without any row would make a series that appears only in the legend. */
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
 * Splits points by idle state if idle states were forced, else by CPU, or by source without CPUs.
 */
static void choose_split(const struct report *report, struct split *split)
{
	const struct table *points = report_find(report, "points");

	split_by(split, any_forced(points) ? points : report_find(report, "distribution"),
		 any_forced(points) ? "name" : "cpu");
	if (!split->nr)
		split_by(split, points, "source");
}

#define SPLIT_PLOTS 6

int wake_plot(FILE *out, const struct report *points, const struct report *earlier)
{
	const struct report *both[] = {points, earlier};
	const struct table *table = report_find(points, "points");
	struct split split, cpus;
	const struct {
		const char *title, *table, *x, *y;
		enum svg_mark mark;
		bool x_log, y_log;
		const struct split *split;
	} parts[SPLIT_PLOTS] = {
		{"Wake latency in the order of the points", "points", "point", "latency_ns",
		 SVG_POINTS, .split = &split},
		{"Launch distance of the same points", "points", "point", "distance_ns", SVG_POINTS,
		 .split = &cpus},
		{"Wake latency against silent time", "points", "silent_ns", "latency_ns", SVG_POINTS,
		 .x_log = true, .split = &split},
		{"Distribution of wake latency", "distribution", "le_ns", "count", SVG_BARS_LE,
		 .x_log = true, .split = &split},
		{"Minimum, quartiles and maximum of each idle state", "boxes", "index", "latency_ns",
		 SVG_LINE, .y_log = true, .split = &split},
		{"Residency against silent time", "points", "silent_ns",
		 table ? wake_depth_key(table) : NULL, SVG_POINTS, .x_log = true, .split = &split},
	};
	struct svg_series series[SPLIT_PLOTS][MAX_SERIES];
	struct svg_plot plots[SPLIT_PLOTS + 2];
	struct both_runs runs = {0};
	size_t nr = 0;

	if (!table || !report_find(points, "distribution") ||
	    (earlier && !report_find(earlier, "points")))
		return -EINVAL;
	choose_split(points, &split);
	split_by(&cpus, table, "cpu");
	/* All cores run the same sweep, so draw the launch distance of the first core only. */
	cpus.nr = cpus.nr > 0;
	for (size_t i = 0; i < SPLIT_PLOTS; i++)
		if (parts[i].y && report_find(points, parts[i].table))
			plots[nr++] = (struct svg_plot){
				.title = parts[i].title,
				.x_log = parts[i].x_log,
				.y_log = parts[i].y_log,
				.series = series[i],
				.nr_series = series_of(parts[i].split, parts[i].table, parts[i].x,
						       parts[i].y, parts[i].mark, series[i])};
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
