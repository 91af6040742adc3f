/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The distribution of wake latency per idle state, beside the exit latency that the driver claims. */
#include "view/html/html.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "view/svg/svg.h"
#include "view/svg/wake_runs.h"

#define MAX_STATES 6
#define NAME_SIZE  96

/* Wake-ups up to an edge, summed over cores; rows: how many cores have that edge. */
struct edge {
	double le_ns, count;
	size_t rows;
};

struct spread {
	struct edge *edges;
	size_t nr, rows;
	double total;
};

static int spread_add(struct spread *s, double le_ns, double count)
{
	struct edge *edges;

	for (size_t i = 0; i < s->nr; i++)
		if (s->edges[i].le_ns == le_ns) {
			s->edges[i].count += count;
			s->edges[i].rows++;
			return 0;
		}
	edges = grow(s->edges, s->nr, sizeof(*edges));
	if (!edges)
		return -ENOMEM;
	s->edges = edges;
	s->edges[s->nr++] = (struct edge){le_ns, count, 1};
	return 0;
}

static int by_edge(const void *a, const void *b)
{
	double x = ((const struct edge *)a)->le_ns, y = ((const struct edge *)b)->le_ns;

	return (x > y) - (x < y);
}

/* Adds one core and state: its histogram, or its percentiles, which are points of the same curve. */
static int spread_row(struct spread *s, const struct table *states, size_t row)
{
	static const struct {
		const char *key;
		double share;
	} points[] = {
		{"min_ns", 0.0},    {"median_ns", 0.5}, {"p99_ns", 0.99},
		{"p999_ns", 0.999}, {"max_ns", 1.0},
	};
	int nested = table_find(states, "le"), rc = 0;
	const struct value *cell = nested < 0 ? NULL : table_cell(states, row, nested);
	double count = table_number(states, row, "count");

	if (!(count > 0.0))
		return 0;
	s->rows++;
	s->total += count;
	if (cell && cell->kind == VALUE_TABLE && cell->table->nr_rows) {
		for (size_t i = 0; i < cell->table->nr_rows && !rc; i++) {
			double le = table_number(cell->table, i, "le_ns");
			double below = table_number(cell->table, i, "count");

			if (le > 0.0 && below >= 0.0)
				rc = spread_add(s, le, below);
		}
		return rc;
	}
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]) && !rc; i++) {
		double value = table_number(states, row, points[i].key);

		if (value > 0.0)
			rc = spread_add(s, value, points[i].share * count);
	}
	return rc;
}

/* Writes rows to @table, from the last edge with no wake-up to the first edge with all. */
static void spread_put(struct spread *s, const char *name, struct table *table)
{
	size_t first = 0, last = 0, nr = 0;

	/* An edge that some core lacks cannot be summed. */
	for (size_t i = 0; i < s->nr; i++)
		if (s->edges[i].rows == s->rows)
			s->edges[nr++] = s->edges[i];
	if (!nr)
		return;
	qsort(s->edges, nr, sizeof(*s->edges), by_edge);
	while (first + 1 < nr && !(s->edges[first + 1].count > 0.0))
		first++;
	while (last + 1 < nr && s->edges[last].count < s->total)
		last++;
	for (size_t i = first; i <= last; i++) {
		size_t row = table_row(table);

		value_str(table_cell(table, row, 0), name);
		value_f64(table_cell(table, row, 1), s->edges[i].le_ns);
		value_f64(table_cell(table, row, 2), fmin(1.0, s->edges[i].count / s->total));
	}
}

/* The data of the plot as a report of its own: the states over all cores. */
struct picture {
	struct report *report;
	struct table *spreads, *claims;
	char name[MAX_STATES][NAME_SIZE], label[MAX_STATES][NAME_SIZE + 32],
		claim[MAX_STATES][NAME_SIZE + 64];
	size_t nr, left_out;
	bool histograms;
	const char *run; /* several runs: whose states come next; else NULL */
};

static int picture_state(struct picture *p, const struct table *states, const char *name)
{
	struct spread spread = {0};
	double claimed = NAN;
	char claim[32], full[NAME_SIZE];
	size_t row;
	int rc = 0;

	for (size_t i = 0; i < states->nr_rows && !rc; i++) {
		if (strcmp(table_str(states, i, "name") ?: "(unnamed)", name))
			continue;
		rc = spread_row(&spread, states, i);
		claimed = fmax(claimed, table_number(states, i, "claimed_ns"));
	}
	if (!rc && spread.rows) {
		snprintf(full, sizeof(full), "%.48s%s%.*s", p->run ?: "", p->run ? ": " : "",
			 p->run ? 40 : NAME_SIZE - 1, name);
		strcpy(p->name[p->nr], full);
		snprintf(p->label[p->nr], sizeof(p->label[0]), "%s, %.0f wake-ups", full,
			 spread.total);
		snprintf(p->claim[p->nr], sizeof(p->claim[0]), "%s: %s claimed", full,
			 html_ns(claimed, claim, sizeof(claim)));
		spread_put(&spread, p->name[p->nr], p->spreads);
		if (claimed > 0.0) {
			row = table_row(p->claims);
			value_str(table_cell(p->claims, row, 0), p->name[p->nr]);
			value_f64(table_cell(p->claims, row, 1), claimed);
			value_f64(table_cell(p->claims, row, 2), 1.0);
		}
		p->nr++;
	}
	free(spread.edges);
	return rc;
}

static bool seen_before(const struct table *states, size_t row, const char *name)
{
	for (size_t i = 0; i < row; i++)
		if (!strcmp(table_str(states, i, "name") ?: "(unnamed)", name))
			return true;
	return false;
}

static int picture_fill(struct picture *p, const struct table *states)
{
	int le = table_find(states, "le"), rc = 0;

	for (size_t row = 0; row < states->nr_rows && !rc; row++) {
		const char *name = table_str(states, row, "name") ?: "(unnamed)";

		p->histograms |= le >= 0 && table_cell(states, row, le)->kind == VALUE_TABLE;
		if (seen_before(states, row, name))
			continue;
		if (p->nr == MAX_STATES)
			p->left_out++;
		else
			rc = picture_state(p, states, name);
	}
	return rc;
}

static struct table *picture_table(struct report *report, const char *key)
{
	struct table *table = report_table(report, key, NULL);

	table_col(table, M_WAKE_NAME);
	table_col_as(table, M_BURST_LE_NS, "le_ns", "wake latency");
	table_col_as(table, M_BUSY_RATIO, "share_ratio", "share of the wake-ups");
	return table;
}

/* All states in one plot: @mark draws the distribution, rules the claims. */
static int picture_draw(FILE *out, const struct picture *p, const char *title, const char *y_label,
			enum svg_mark mark)
{
	struct svg_series series[2 * MAX_STATES];
	struct svg_plot plot = {.title = title,
				.x_label = "wake latency",
				.y_label = y_label,
				.x_log = true,
				.series = series};

	for (size_t i = 0; i < p->nr; i++)
		series[plot.nr_series++] = (struct svg_series){.table = "spreads",
							       .where = "name",
							       .equals = p->name[i],
							       .x = "le_ns",
							       .y = "share_ratio",
							       .label = p->label[i],
							       .mark = mark,
							       .color = i + 1};
	for (size_t i = 0; i < p->nr; i++)
		for (size_t row = 0; row < p->claims->nr_rows; row++)
			if (!strcmp(table_str(p->claims, row, "name") ?: "", p->name[i]))
				series[plot.nr_series++] = (struct svg_series){.table = "claims",
									       .where = "name",
									       .equals = p->name[i],
									       .x = "le_ns",
									       .y = "share_ratio",
									       .label = p->claim[i],
									       .mark = SVG_RULE,
									       .color = i + 1};
	return html_plot(out, p->report, &plot);
}

int html_wake(FILE *out, const struct report *report)
{
	const struct table *states = report_find(report, "states");
	struct picture p = {.report = report_new("wake")};
	int rc;

	if (!p.report)
		return -ENOMEM;
	p.spreads = picture_table(p.report, "spreads");
	p.claims = picture_table(p.report, "claims");
	rc = states ? picture_fill(&p, states) : 0;
	rc = rc ?: report_check(p.report);
	if (!rc && p.nr && p.histograms)
		rc = picture_draw(out, &p, "Distribution of wake latency, by idle state",
				  "share of the state's wake-ups", SVG_BARS_LE);
	if (!rc && p.nr)
		rc = picture_draw(out, &p, "Share of wake-ups that took no longer, by idle state",
				  "share of the state's wake-ups", SVG_LINE);
	if (!rc && p.nr) {
		fputs("<p class=\"muted\">", out);
		html_textf(out,
			   "All cores together. Points are counted; the lines between them are "
			   "not. %s",
			   p.claims->nr_rows ? "Dashed: the exit latency that the driver claims."
					     : "There is no claimed exit latency.");
		if (p.left_out)
			html_textf(out, " %zu more states are in the table.", p.left_out);
		fputs("</p>\n", out);
	}
	report_free(p.report);
	return rc;
}

/* The share of wake-ups by latency, for the states of all runs. */
static int compare_states(FILE *out, const struct html_doc *doc)
{
	struct picture p = {.report = report_new("wake")};
	char name[WAKE_RUN_NAME];
	size_t runs = 0;
	int rc = 0;

	if (!p.report)
		return -ENOMEM;
	p.spreads = picture_table(p.report, "spreads");
	p.claims = picture_table(p.report, "claims");
	for (size_t i = 0; i < doc->nr_reports && !rc; i++) {
		const struct table *states = report_find(doc->reports[i], "states");

		if (strcmp(doc->reports[i]->command, "wake") || !states)
			continue;
		wake_run_name(doc->reports, i, name, sizeof(name));
		runs++;
		p.run = name;
		rc = picture_fill(&p, states);
	}
	rc = rc ?: report_check(p.report);
	if (!rc && runs > 1 && p.nr)
		rc = picture_draw(out, &p, "Share of wake-ups that took no longer, by machine",
				  "share of the state's wake-ups", SVG_LINE);
	report_free(p.report);
	return rc;
}

int html_wake_runs(FILE *out, const struct html_doc *doc)
{
	struct wake_runs runs;
	int rc = wake_runs_make(&runs, doc->reports, doc->nr_reports);

	for (size_t i = 0; i < runs.nr_plots && runs.nr && !rc; i++)
		rc = html_plot(out, runs.report, &runs.plots[i]);
	wake_runs_free(&runs);
	return rc ?: compare_states(out, doc);
}
