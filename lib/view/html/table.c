/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of a report: all figures, with their help texts. */
#include "view/html/html.h"

#include <stdlib.h>
#include <string.h>

#include "report/findings.h"
#include "view/cells.h"
#include "view/view.h"

#define MAX_ROWS  100 /* of a table: enough to read, few enough to mail */
#define MAX_PEAKS 24
#define SHORT	  16
#define WIDE	  13 /* columns that fit on a page in the normal font size */

/* Titles of tables: the JSON that reports are read from has none. */
static const struct {
	const char *command, *key, *title;
} titles[] = {
	{"load", "cpus", "Each core: shares of its time"},
	{"load", "softirqs", "Softirqs by vector"},
	{"load", "irqs", "Interrupts by line"},
	{"load", "tasks", "Tasks with most time of each core"},
	{"load", "bursts", "Busy bursts between two idle periods"},
	{"runq", "groups", "Waits for a core, by group"},
	{"runq", "blame", "Who had the core while they waited"},
	{"runq", "waits", "Long waits, one by one"},
	{"runq", "idle_states", "Waits for cores to leave an idle state, by group and state"},
	{"runq", "pressure", "Wall time in which somebody waited for a core, with all below"},
	{"noise", "cores", "Each core: shares of its time, and the longest at once"},
	{"noise", "sources", "What took time of each core: the sources with most time"},
	{"noise", "hits", "Whom it hit"},
	{"wake", "by_state", "Wake latency of each idle state, forced, all cores together"},
	{"wake", "states", "Wake latency by core and idle state"},
	{"wake", "cpus", "Per core: points, and what measuring costs"},
	{"wake", "breakdown", "From launch to each stage"},
	{"wake", "prewake", "How much earlier the timer wakes the core"},
	{"wake", "residency", "Core states by the hardware's counters"},
	{"audit", "sets", "Increments of /proc/stat"},
	{"audit", "peaks", "Peaks of the time between increments"},
	{"audit", "delays", "A loop of sleeps: accounted and true CPU time"},
	{"audit", "modes", "Load levels by mode, shown and true"},
	{"audit", "program", "The command: accounted and used CPU time"},
	{"audit", "loads", "The loads, and what /proc/stat shows"},
	{"audit", "errors", "Errors of each source, in percentage points"},
	{"audit", "phases", "Shown and true load of a locked burn, by phase"},
	{"crit", "ops", "Cost of a pair of disable and enable"},
	{"crit", "per_cpu", "The same for each core"},
	{"crit", "tracepoints", "Cost of enabling the tracepoints"},
	{"crit", "against", "Compared with the earlier run"},
	{"doctor", "checks", "Checks"},
	{"doctor", "commands", "Commands"},
};

static const char *title_of(const struct report *report, const struct table *table)
{
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		if (!strcmp(titles[i].command, report->command) &&
		    !strcmp(titles[i].key, table->key))
			return titles[i].title;
	return table->title ?: table->key;
}

static bool column_is_empty(const struct table *table, size_t col)
{
	if (table->cols[col].data_only)
		return true;
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct value *value = table_cell(table, row, col);

		if (value->kind == VALUE_TABLE || value->kind == VALUE_NULL)
			continue;
		if (value->kind != VALUE_STR || value->str[0])
			return false;
	}
	return true;
}

static void put_cell(FILE *out, const struct value *value, enum unit unit)
{
	char number[64];

	if (value->kind == VALUE_STR) {
		/* A column of short words needs no minimum width. */
		fputs(strlen(value->str) > SHORT ? "<td class=\"t\">" : "<td>", out);
		html_text(out, value->str);
	} else {
		html_format(value, unit, number, sizeof(number));
		fputs(value->kind == VALUE_BOOL ? "<td>" : "<td class=\"n\">", out);
		html_text(out, number);
	}
	fputs("</td>", out);
}

static void put_heads(FILE *out, const struct table *table)
{
	fputs("<thead><tr>", out);
	for (size_t col = 0; col < table->nr_cols; col++) {
		enum unit unit = table->cols[col].metric->unit;

		if (column_is_empty(table, col))
			continue;
		fprintf(out, "<th scope=\"col\"%s title=\"",
			unit == UNIT_TEXT || unit == UNIT_BOOL ? "" : " class=\"n\"");
		html_text(out, table->cols[col].metric->help);
		fputs("\">", out);
		html_text(out, table->cols[col].title);
		fputs("</th>", out);
	}
	fputs("</tr></thead>", out);
}

static void put_table(FILE *out, const struct report *report, const struct table *table)
{
	/* The plot shows the peaks, too, and the table of sets has the largest. */
	size_t shown = strcmp(table->key, "peaks") ? MAX_ROWS : MAX_PEAKS, width = 0;

	if (!table->nr_rows)
		return;
	if (shown > table->nr_rows)
		shown = table->nr_rows;
	for (size_t col = 0; col < table->nr_cols; col++)
		width += !column_is_empty(table, col);
	fprintf(out, "<div class=\"scroll\"><table%s><caption>",
		width > WIDE ? " class=\"wide\"" : "");
	html_text(out, title_of(report, table));
	if (shown < table->nr_rows)
		html_textf(out, ": the first %zu of %zu rows", shown, table->nr_rows);
	fputs("</caption>", out);
	put_heads(out, table);
	fputs("<tbody>\n", out);
	for (size_t row = 0; row < shown; row++) {
		fputs("<tr>", out);
		for (size_t col = 0; col < table->nr_cols; col++)
			if (!column_is_empty(table, col))
				put_cell(out, table_cell(table, row, col),
					 table->cols[col].metric->unit);
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
}

/* Fields and quality: one line per key, with its help text. */
static void put_single(FILE *out, const struct table *table, const char *title)
{
	char number[64];

	if (!table->nr_rows)
		return;
	fputs("<table><caption>", out);
	html_text(out, title);
	fputs("</caption><tbody>\n", out);
	for (size_t col = 0; col < table->nr_cols; col++) {
		const struct value *value = table_cell(table, 0, col);

		if (value->kind == VALUE_TABLE)
			continue;
		fputs("<tr><th scope=\"row\">", out);
		html_text(out, table->cols[col].key);
		fputs("</th>", out);
		if (value->kind == VALUE_NULL) {
			fputs("<td class=\"n\">unavailable</td>", out);
		} else if (value->kind == VALUE_F64 &&
			   table->cols[col].metric->unit == UNIT_RATIO) {
			view_format_ratio_fine(value->f64, number, sizeof(number));
			fprintf(out, "<td class=\"n\">%s</td>", number);
		} else {
			put_cell(out, value, table->cols[col].metric->unit);
		}
		fputs("<td class=\"muted\">", out);
		html_text(out, table->cols[col].metric->help);
		fputs("</td></tr>\n", out);
	}
	fputs("</tbody></table>\n", out);
}

/* The plot shows this whole histogram; as rows it would bury the other tables. */
static bool is_drawn(const struct report *report, const struct table *table)
{
	return !strcmp(report->command, "audit") && !strcmp(table->key, "intervals");
}

void html_tables(FILE *out, const struct report *report)
{
	for (size_t i = 0; i < report->nr_tables; i++) {
		/* Nothing found is no news. */
		if (report->tables[i] == findings_of(report) && !report->tables[i]->nr_rows)
			continue;
		if (report->tables[i]->sum)
			continue;
		if (!is_drawn(report, report->tables[i])) {
			const struct table *sum =
				i + 1 < report->nr_tables ? report->tables[i + 1] : NULL;
			struct table table;

			/* Without memory for the sum the rest is still right. */
			if (cells_with_sum(report->tables[i], sum, &table)) {
				put_table(out, report, report->tables[i]);
				continue;
			}
			put_table(out, report, &table);
			free(table.cells);
		} else if (report->tables[i]->nr_rows) {
			fputs("<p class=\"muted\">", out);
			html_textf(
				out,
				"The plot above shows the %zu bins of the time between increments.",
				report->tables[i]->nr_rows);
			fputs("</p>\n", out);
		}
	}
	put_single(out, report->fields, "Overall figures");
	put_single(out, report->quality, "Quality: errors and losses");
}
