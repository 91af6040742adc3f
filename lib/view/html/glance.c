/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The most important figures, as tiles above the summary. */
#include "view/html/html.h"

#include <math.h>
#include <string.h>

#define NS(value) html_ns(value, (char[32]){0}, 32)

/* A figure and its description; both are escaped here. */
#define TILE(out, figure, ...)                \
	do {                                  \
		fputs("<li><strong>", out);   \
		html_text(out, figure);       \
		fputs("</strong>", out);      \
		html_textf(out, __VA_ARGS__); \
		fputs("</li>\n", out);        \
	} while (0)

static void glance_load(FILE *out, const struct report *report)
{
	const struct table *cpus = report_find(report, "cpus");
	size_t nr = 0, nr_stat = 0;
	double busy = cpus ? html_mean(cpus, "busy_ratio", &nr) : NAN;
	double stat = cpus ? html_mean(cpus, "compare.procstat_busy_ratio", &nr_stat) : NAN;
	char figure[32];

	if (!nr)
		return;
	snprintf(figure, sizeof(figure), "%.1f%%", busy * 100.0);
	if (nr_stat)
		TILE(out, figure, "busy, mean of %zu core%s; /proc/stat shows %.1f%%", nr,
		     nr == 1 ? "" : "s", stat * 100.0);
	else
		TILE(out, figure, "busy, mean of %zu core%s", nr, nr == 1 ? "" : "s");
}

static void glance_runq(FILE *out, const struct report *report)
{
	const struct table *groups = report_find(report, "groups");
	size_t worst = html_largest(groups, "p99_ns");

	if (worst != SIZE_MAX)
		TILE(out, NS(table_number(groups, worst, "p99_ns")),
		     "highest p99 of any group: one in a hundred waits for a core takes longer");
}

static void glance_noise(FILE *out, const struct report *report)
{
	const struct table *sources = report_find(report, "sources");
	size_t most = html_largest(sources, "max_ns");

	if (most != SIZE_MAX)
		TILE(out, NS(table_number(sources, most, "max_ns")),
		     "longest time at once that a core was taken from its tasks: %s on CPU %.0f",
		     table_str(sources, most, "name") ?: "(unnamed)",
		     table_number(sources, most, "cpu"));
}

static void glance_wake(FILE *out, const struct report *report)
{
	const struct table *states = report_find(report, "states");
	size_t most = html_largest(states, "max_ns"), median = html_largest(states, "median_ns");

	if (most != SIZE_MAX && median != SIZE_MAX)
		TILE(out, NS(table_number(states, most, "max_ns")),
		     "longest wake-up of an idle core; the median is at most %s",
		     NS(table_number(states, median, "median_ns")));
}

/* Shows preemption, the pair that kernel code uses most often. */
static void glance_crit(FILE *out, const struct report *report)
{
	const struct table *ops = report_find(report, "ops");
	const char *unit = table_str(report->fields, 0, "unit") ?: "";

	for (size_t row = 0; ops && row < ops->nr_rows; row++) {
		const char *op = table_str(ops, row, "op");
		double cost = table_number(ops, row, "batch");
		char figure[64];

		if (isnan(cost))
			cost = table_number(ops, row, "median");
		if (!op || strcmp(op, "preempt") || isnan(cost))
			continue;
		snprintf(figure, sizeof(figure), "%.3g %s", cost, unit);
		TILE(out, figure, "to disable and enable preemption once");
	}
}

/* The verdict's own figure: without short windows and loads that left their core. */
static void glance_audit(FILE *out, const struct report *report)
{
	double worst = table_number(report->fields, 0, "worst_error_ratio");
	char figure[32];

	if (isnan(worst))
		return;
	snprintf(figure, sizeof(figure), "%.1f points", worst * 100.0);
	TILE(out, figure, "largest error of /proc/stat under loads of known size, in windows of %s",
	     "a second or more");
}

void html_glance(FILE *out, const struct html_doc *doc)
{
	static const struct {
		const char *command;
		void (*tile)(FILE *, const struct report *);
	} tiles[] = {
		{"load", glance_load}, {"runq", glance_runq}, {"noise", glance_noise},
		{"wake", glance_wake}, {"crit", glance_crit}, {"audit", glance_audit},
	};
	bool seen[sizeof(tiles) / sizeof(tiles[0])] = {0};

	fputs("<ul class=\"glance\">\n", out);
	for (size_t t = 0; t < sizeof(tiles) / sizeof(tiles[0]); t++)
		for (size_t i = 0; i < doc->nr_reports; i++) {
			const struct report *report = doc->reports[i];

			if (strcmp(tiles[t].command, report->command))
				continue;
			/* Only the first of several windows, but every experiment of an audit. */
			if (!seen[t] || !strcmp(report->command, "audit"))
				tiles[t].tile(out, report);
			seen[t] = true;
		}
	fputs("</ul>\n", out);
}
