/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which report gets which plots. */
#include "view/html/html.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "view/svg/audit.h"

#define NR(x)	   (sizeof(x) / sizeof((x)[0]))
#define MAX_GROUPS 4
#define MAX_SERIES 16

/* The row with the largest figure below @below; SIZE_MAX if there is none. */
static size_t next_below(const struct table *table, const char *key, double below)
{
	size_t best = SIZE_MAX;
	double most = -INFINITY;

	for (size_t row = 0; row < table->nr_rows; row++) {
		double value = table_number(table, row, key);

		if (value > most && value < below) {
			most = value;
			best = row;
		}
	}
	return best;
}

static int plot_runq(FILE *out, const struct report *report)
{
	const struct table *groups = report_find(report, "groups");
	const struct table *blame = report_find(report, "blame");
	struct svg_series series[MAX_GROUPS];
	struct svg_plot histogram = {
		.title = "How long tasks waited: the groups that waited most",
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
		below = table_number(groups, row, "sum_ns");
		if (table_str(groups, row, "cgroup"))
			series[histogram.nr_series++] =
				(struct svg_series){.table = "groups",
						    .where = "cgroup",
						    .equals = table_str(groups, row, "cgroup"),
						    .nested = "le",
						    .x = "le_ns",
						    .y = "count",
						    .label = table_str(groups, row, "cgroup"),
						    .mark = SVG_BARS_LE};
	}
	if (histogram.nr_series)
		rc = html_plot(out, report, &histogram);
	if (blame)
		html_heat(out, blame);
	return rc;
}

/* Only the first cores: in one plot of all, none could be seen. */
static int plot_bursts(FILE *out, const struct report *report)
{
	const struct table *bursts = report_find(report, "bursts");
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
		double number = table_number(bursts, row, "cpu");
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
		histogram.nr_series += html_series_fits(report, &series[i]);
	}
	if (bursts && bursts->nr_rows > MAX_GROUPS)
		histogram.title = "Length of busy bursts, first cores";
	return histogram.nr_series ? html_plot(out, report, &histogram) : 0;
}

static int plot_load(FILE *out, const struct report *report)
{
	const struct table *cpus = report_find(report, "cpus");

	if (cpus)
		html_cores(out, cpus);
	return plot_bursts(out, report);
}

static int plot_audit(FILE *out, const struct report *report)
{
	const char *experiment = table_str(report->fields, 0, "experiment");
	const struct audit_figures *figures = experiment ? audit_figures_of(experiment) : NULL;
	struct audit_drawing drawing;
	int rc = 0;

	if (!figures)
		return 0;
	audit_drawing_init(&drawing, figures, report);
	for (size_t i = 0; i < drawing.nr && !rc; i++)
		rc = html_plot(out, report, &drawing.plots[i]);
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
