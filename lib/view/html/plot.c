/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which report gets which pictures. */
#include "view/html/html.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "view/svg/audit.h"

#define NR(x)	   (sizeof(x) / sizeof((x)[0]))
#define MAX_GROUPS 4
#define MAX_SERIES 16

static bool row_matches(const struct table *table, size_t row, const struct svg_series *series)
{
	const char *str;
	char number[24];

	if (!series->where)
		return true;
	str = html_str(table, row, series->where);
	if (str)
		return !strcmp(str, series->equals);
	snprintf(number, sizeof(number), "%.15g", html_number(table, row, series->where));
	return !strcmp(number, series->equals);
}

/* Whether all that a series names is there, and a row of it; a report from elsewhere may lack anything. */
static bool series_fits(const struct report *report, const struct svg_series *series)
{
	const struct table *table = html_table_of(report, series->table), *inner = table;
	size_t found = 0;
	int nested;

	if (!table || (series->where && table_find(table, series->where) < 0))
		return false;
	for (size_t row = 0; row < table->nr_rows; row++)
		found += row_matches(table, row, series);
	if (!found)
		return false;
	if (series->nested) {
		nested = table_find(table, series->nested);
		if (nested < 0)
			return false;
		for (size_t row = 0; row < table->nr_rows; row++) {
			const struct value *value = table_cell(table, row, nested);

			if (!row_matches(table, row, series))
				continue;
			if (value->kind != VALUE_TABLE)
				return false;
			inner = value->table;
			if (table_find(inner, series->x) < 0 || table_find(inner, series->y) < 0)
				return false;
		}
		return true;
	}
	return table_find(inner, series->x) >= 0 && table_find(inner, series->y) >= 0 &&
	       (!series->x_end || table_find(inner, series->x_end) >= 0);
}

int html_plot(FILE *out, const struct report *report, const struct svg_plot *wanted)
{
	struct svg_series series[MAX_SERIES];
	struct svg_plot one = *wanted;
	int rc;

	one.series = series;
	one.nr_series = 0;
	for (size_t i = 0; i < wanted->nr_series && one.nr_series < MAX_SERIES; i++)
		if (series_fits(report, &wanted->series[i]))
			series[one.nr_series++] = wanted->series[i];
	if (!one.nr_series)
		return 0;
	fputs("<figure>\n", out);
	rc = svg_write(out, report, &one, 1);
	fputs("</figure>\n", out);
	return rc;
}

/* The row with the largest figure under @below; SIZE_MAX when there is none. */
static size_t next_below(const struct table *table, const char *key, double below)
{
	size_t best = SIZE_MAX;
	double most = -INFINITY;

	for (size_t row = 0; row < table->nr_rows; row++) {
		double value = html_number(table, row, key);

		if (value > most && value < below) {
			most = value;
			best = row;
		}
	}
	return best;
}

static int plot_runq(FILE *out, const struct report *report)
{
	const struct table *groups = html_table_of(report, "groups");
	const struct table *blame = html_table_of(report, "blame");
	struct svg_series series[MAX_GROUPS];
	struct svg_plot histogram = {
		.title = "How long tasks waited, the groups that waited most",
		.x_label = "wait up to",
		.y_label = "waits",
		.x_log = true,
		.series = series,
	};
	int rc = 0;

	for (double below = INFINITY; groups && histogram.nr_series < MAX_GROUPS;) {
		size_t row = next_below(groups, "sum_ns", below);

		if (row == SIZE_MAX)
			break;
		below = html_number(groups, row, "sum_ns");
		if (html_str(groups, row, "cgroup"))
			series[histogram.nr_series++] =
				(struct svg_series){.table = "groups",
						    .where = "cgroup",
						    .equals = html_str(groups, row, "cgroup"),
						    .nested = "le",
						    .x = "le_ns",
						    .y = "count",
						    .label = html_str(groups, row, "cgroup"),
						    .mark = SVG_BARS_LE};
	}
	if (histogram.nr_series)
		rc = html_plot(out, report, &histogram);
	if (blame)
		html_heat(out, blame);
	return rc;
}

/* Of the first cores; one plot of all would hide each. */
static int plot_bursts(FILE *out, const struct report *report)
{
	const struct table *bursts = html_table_of(report, "bursts");
	char cpu[MAX_GROUPS][24], label[MAX_GROUPS][32];
	struct svg_series series[MAX_GROUPS];
	struct svg_plot histogram = {
		.title = "Length of busy bursts",
		.x_label = "burst up to",
		.y_label = "bursts",
		.x_log = true,
		.series = series,
	};

	for (size_t row = 0; bursts && row < bursts->nr_rows && row < MAX_GROUPS; row++) {
		double number = html_number(bursts, row, "cpu");
		size_t i = histogram.nr_series;

		if (!(number >= 0.0 && number < 1e6))
			continue;
		snprintf(cpu[i], sizeof(cpu[i]), "%u", (unsigned int)number);
		snprintf(label[i], sizeof(label[i]), "CPU %u", (unsigned int)number);
		series[i] = (struct svg_series){.table = "bursts",
						.where = "cpu",
						.equals = cpu[i],
						.nested = "le",
						.x = "le_ns",
						.y = "count",
						.label = label[i],
						.mark = SVG_BARS_LE};
		histogram.nr_series += series_fits(report, &series[i]);
	}
	if (bursts && bursts->nr_rows > MAX_GROUPS)
		histogram.title = "Length of busy bursts, first cores";
	return histogram.nr_series ? html_plot(out, report, &histogram) : 0;
}

static int plot_load(FILE *out, const struct report *report)
{
	const struct table *cpus = html_table_of(report, "cpus");

	if (cpus)
		html_cores(out, cpus);
	return plot_bursts(out, report);
}

static int plot_audit(FILE *out, const struct report *report)
{
	const char *experiment = html_str(report->fields, 0, "experiment");
	const struct audit_figures *figures = experiment ? audit_figures_of(experiment) : NULL;
	int rc = 0;

	for (size_t i = 0; figures && i < figures->nr && !rc; i++)
		rc = html_plot(out, report, &figures->plots[i]);
	return rc;
}

int html_plots(FILE *out, const struct report *report)
{
	static const struct {
		const char *command;
		int (*plot)(FILE *, const struct report *);
	} plots[] = {
		{"load", plot_load},   {"runq", plot_runq}, {"wake", html_wake},
		{"audit", plot_audit}, {"crit", html_crit},
	};

	for (size_t i = 0; i < NR(plots); i++)
		if (!strcmp(plots[i].command, report->command))
			return plots[i].plot(out, report);
	return 0;
}
