/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plots of `subtick wake --plot` and the columns they show. */
#include "view/svg/wake.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "view/svg/svg.h"
#include "view/svg/wake_runs.h"

#define MAX_SERIES 8

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
