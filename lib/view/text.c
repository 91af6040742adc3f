/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints reports as text: source, tables, findings, losses and notes. */
#include "view/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/findings.h"
#include "view/utf8.h"

#define HEADING_EVERY 20 /* number of reports between two headings of a scrolling table */
/* maximum number of findings, so that the tables fit on a screen of 24 lines */
#define FINDINGS_SHOWN 5
#define COMPACT_ROWS  5 /* maximum rows of a scrolling table: four CPUs and their sum */

static void text_pair(const struct view *view, const struct column *col, const struct value *value,
		      const char *between)
{
	char number[64];

	fprintf(view->out, "%s%s", between, col->title);
	if (value->kind == VALUE_BOOL && value->flag)
		return;
	fputc(' ', view->out);
	if (value->kind == VALUE_STR) {
		utf8_print(view->out, value->str);
		return;
	}
	if (col->metric->unit == UNIT_RATIO && value->kind == VALUE_F64)
		view_format_ratio_fine(value->f64, number, sizeof(number));
	else
		view_format_value(value, col->metric->unit, number, sizeof(number));
	fputs(number, view->out);
}

/*
 * Prints the values in the first row of @table for which @shown is true. Returns true if any value
 * was printed.
 */
static bool text_pairs(const struct view *view, const struct table *table, const char *between,
		       bool (*shown)(const struct column *col, const struct value *value))
{
	bool any = false;

	for (size_t i = 0; i < table->nr_cols; i++) {
		const struct value *value = table_cell(table, 0, i);

		if (table->cols[i].data_only || !shown(&table->cols[i], value))
			continue;
		text_pair(view, &table->cols[i], value, any ? ", " : between);
		any = true;
	}
	return any;
}

static bool is_field(const struct column *col, const struct value *value)
{
	return value->kind != VALUE_TABLE;
}

/* True for quality values in the heading: all values except loss counters and counts of 0. */
static bool in_head(const struct column *col, const struct value *value)
{
	return value->kind != VALUE_TABLE && !text_is_loss(col, value) &&
	       (!text_is_zero(value) || col->metric->unit == UNIT_RATIO);
}

static void text_time(const struct view *view, const struct report *report, const char *end)
{
	time_t seconds = report->time_unix_ns / 1000000000;
	char clock[16];
	struct tm tm;

	if (!localtime_r(&seconds, &tm))
		return;
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	fprintf(view->out, "%s%s", clock, end);
}

/* Prints a line such as "02:03:04 load: source bpf, window 1.00 s", and the fields. */
static void text_head(struct view *view, const struct report *report)
{
	const char *between = ": ";
	char window[32];

	if (report->window_ns)
		text_time(view, report, " ");
	text_put(view, STYLE_BOLD, report->command);
	if (report->source) {
		fprintf(view->out, "%ssource ", between);
		utf8_print(view->out, report->source);
		between = ", ";
	}
	if (report->window_ns) {
		view_format_ns(report->window_ns, window, sizeof(window));
		fprintf(view->out, "%swindow %s", between, window);
		between = ", ";
	}
	text_pairs(view, report->quality, between, in_head);
	fputc('\n', view->out);
	if (text_pairs(view, report->fields, "", is_field))
		fputc('\n', view->out);
}

static bool has_fields(const struct report *report)
{
	array_for_each(col, report->fields->cols, report->fields->nr_cols)
		if (!col->data_only)
			return true;
	return false;
}

/* Prints a coloured label, and escaped and wrapped text after the label. */
__attribute__((format(printf, 3, 4)))
static int text_say(const struct view *view, const char *label, const char *fmt, ...)
{
	char *text, *safe;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0)
		return -ENOMEM;
	safe = utf8_printable(text, 0);
	free(text);
	if (!safe)
		return -ENOMEM;
	text_put(view, *label ? STYLE_YELLOW : STYLE_PLAIN, label);
	text_wrap(view, safe, strlen(label));
	free(safe);
	return 0;
}

/* Prints the notes if they changed since the previous window. */
static int text_notes(struct view *view, const struct report *report)
{
	uint64_t hash = HASH_START;
	int rc = 0;

	array_for_each(note, report->notes, report->nr_notes)
		hash = text_hash(hash, *note);
	if (hash == view->seen.notes)
		return 0;
	view->seen.notes = hash;
	array_for_each(note, report->notes, report->nr_notes)
		rc = rc ?: text_say(view, "", "%s", *note);
	return rc;
}

/* Prints each finding and its next step as sentences. Findings are sorted by lost time. */
static int text_findings(struct view *view, const struct report *report)
{
	const struct table *findings = findings_of(report);
	size_t nr = findings ? findings->nr_rows : 0;
	bool all = view->all || view->top == VIEW_TOP_ALL;
	size_t shown = all || nr <= FINDINGS_SHOWN ? nr : FINDINGS_SHOWN;
	int rc = 0;

	for (size_t row = 0; row < shown && !rc; row++) {
		const char *next = table_str(findings, row, "next");

		rc = text_say(view, "finding: ", "%s.%s%s",
			      table_str(findings, row, "finding") ?: "", next ? " Next: " : "",
			      next ?: "");
	}
	if (shown < nr)
		fprintf(view->out, "and %zu findings with less lost time: %s\n", nr - shown,
			view->top ? "--top 0 shows them" : "--json has them");
	return rc;
}

/* Prints each loss since the previous report, and the effect of the loss on the figures. */
static int text_losses(struct view *view, const struct table *quality)
{
	int rc = 0;

	for (size_t i = 0; i < quality->nr_cols && !rc; i++) {
		const struct column *col = &quality->cols[i];
		const struct value *value = table_cell(quality, 0, i);
		uint64_t lost;

		if (col->data_only || !text_is_loss(col, value))
			continue;
		lost = text_lost_now(&view->losses, col, value);
		if (lost)
			rc = text_say(view, "lost: ", "%s %" PRIu64 ": %s", col->title, lost,
				      col->metric->help);
	}
	return rc;
}

static bool is_visible(const struct view *view, const struct table *table)
{
	return !table->sentences && !table->sum && (!table->text_hidden || view->all);
}

/* With --all or --histogram, prints the histograms in cells, each below the name of its row. */
static void text_nested(struct view *view, const struct grid *grid)
{
	const struct table *table = grid->table;

	for (size_t i = 0; view->all && i < table->nr_rows * table->nr_cols; i++) {
		const struct value *value = &table->cells[i];
		size_t row = i / table->nr_cols;

		if (value->kind != VALUE_TABLE || !text_is_hist(value->table))
			continue;
		fputc('\n', view->out);
		for (size_t k = 0; k < grid->nr_keys; k++) {
			size_t col = grid->items[k].col;

			fprintf(view->out, "%s%s %s", k ? ", " : "", table->cols[col].title,
				grid->cells[row * table->nr_cols + col]);
		}
		fputs(grid->nr_keys ? ":\n" : "", view->out);
		text_hist(view, value->table);
	}
}

/*
 * Reports of one small table scroll under one heading, until the columns, the source or the window
 * length change.
 */
static bool heading_due(struct view *view, const struct report *report, struct grid *grid,
			bool compact)
{
	uint64_t hash = grid_hash(grid, text_hash(HASH_START, report->source ?: ""));
	uint64_t window = view->seen.window_ns;
	bool same_window = report->window_ns >= window - window / 20 &&
			   report->window_ns <= window + window / 20;
	bool due = !compact || !view->written || hash != view->seen.columns || !same_window ||
		   view->seen.age >= HEADING_EVERY;

	if (hash != view->seen.columns || !compact)
		memset(view->seen.widths, 0, sizeof(view->seen.widths));
	due |= !grid_keep_widths(grid, view);

	view->seen.age = due ? 1 : view->seen.age + 1;
	view->seen.columns = hash;
	if (due)
		view->seen.window_ns = report->window_ns;
	return due;
}

static int text_table(struct view *view, const struct report *report, size_t at, bool first,
		      bool only)
{
	const struct table *sum = at + 1 < report->nr_tables ? report->tables[at + 1] : NULL;
	struct table with_sum, *table = &with_sum;
	struct grid grid;
	bool heading = true;
	int rc = cells_with_sum(report->tables[at], sum, table);

	if (rc)
		return rc;
	rc = grid_init(&grid, view, table);
	if (rc)
		goto out;
	if (first) {
		bool compact = only && table->nr_rows && table->nr_rows <= COMPACT_ROWS &&
			       grid.nr_blocks == 1 && !has_fields(report) && !view->all;

		heading = heading_due(view, report, &grid, compact);
		if (view->written && heading)
			fputc('\n', view->out);
		/*
		 * A line with the time separates windows under one heading. For events, the line is
		 * printed at most once per second.
		 */
		if (!heading && report->time_unix_ns &&
		    (report->window_ns || report->time_unix_ns / 1000000000 != view->seen.second))
			text_time(view, report, "\n");
		view->seen.second = report->time_unix_ns / 1000000000;
		if (heading)
			text_head(view, report);
	} else {
		fputc('\n', view->out);
	}
	if (text_is_hist(table)) {
		if (table->title)
			fprintf(view->out, "%s:\n", table->title);
		text_hist(view, table);
	} else {
		grid_print(&grid, view, heading);
		text_nested(view, &grid);
	}
	grid_free(&grid);
out:
	free(table->cells);
	return rc;
}

int view_text(struct view *view, const struct report *report)
{
	size_t nr = 0;
	bool first = true;
	int rc = 0;

	array_for_each(table, report->tables, report->nr_tables)
		nr += is_visible(view, *table);
	if (!nr) {
		if (view->written)
			fputc('\n', view->out);
		text_head(view, report);
	}
	for (size_t i = 0; i < report->nr_tables && !rc; i++) {
		if (!is_visible(view, report->tables[i]))
			continue;
		rc = text_table(view, report, i, first, nr == 1);
		first = false;
	}
	return rc ?: text_findings(view, report) ?: text_losses(view, report->quality) ?:
	       text_notes(view, report);
}
