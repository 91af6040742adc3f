/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws the live screen: header, CPUs, findings, losses, tabs, panes, notes and help. */
#include "view/screen/screen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/losses.h"
#include "report/findings.h"
#include "view/text.h"
#include "view/utf8.h"

static const char *const help[][2] = {
	{"q, Ctrl-C", "quit"},
	{"p, space", "pause the display; measuring goes on"},
	{"Tab, Shift-Tab, 1 to 9", "next pane, previous pane, pane by number"},
	{"s, S", "sort by the next column, by the previous column"},
	{"r", "reverse the order"},
	{"f, /", "show only rows whose names contain a text"},
	{"arrows, PgUp, PgDn, Home, End", "scroll rows and columns"},
	{"a", "show all columns, or only the most useful ones"},
	{"+, -", "lengthen or shorten the interval"},
	{"h, ?", "this help; any key closes it"},
};

/* Area for wrapped text. The first @skip lines are counted, but not drawn. */
struct lines {
	struct canvas *canvas;
	int row, end; /* canvas rows of the text: from `row` to `end` - 1 */
	size_t skip, nr;
};

static void draw_wrapped(struct lines *lines, enum style style, const char *text)
{
	char *safe = utf8_printable(text, 0), *rest = safe, *word;
	struct canvas *canvas = lines->canvas;
	int x = 0, row;

	if (!safe) {
		canvas->failed = true;
		return;
	}
	while ((word = strsep(&rest, " "))) {
		int width = utf8_width(word);

		if (x && x + 1 + width > canvas->cols) {
			lines->nr++;
			x = 0;
		}
		x += x && *word;
		row = lines->row + (int)(lines->nr - lines->skip);
		if (lines->nr >= lines->skip && row < lines->end)
			canvas_put(canvas, row, x, canvas->cols, style, word);
		x += width;
	}
	lines->nr++;
	free(safe);
}

/* The findings of the first report combine the figures of all measurements. */
static void draw_finding(const struct screen *screen, int row, struct canvas *canvas)
{
	const struct table *first = findings_of(screen->slots[0].report);
	size_t nr = first ? first->nr_rows : 0;
	const char *next = nr ? table_str(first, 0, "next") : NULL;
	char more[40] = "";
	int end;

	if (!nr) {
		if (screen->slots[0].report)
			canvas_put(canvas, row, 0, canvas->cols, STYLE_GREEN, "findings: none");
		return;
	}
	if (nr > 1)
		snprintf(more, sizeof(more), " +%zu (see notes)", nr - 1);
	end = canvas->cols - (int)strlen(more);
	canvas_put(canvas, row, 0, end, STYLE_YELLOW, table_str(first, 0, "finding") ?: "");
	canvas_put(canvas, row, end, canvas->cols, STYLE_DIM, more);
	if (next)
		canvas_printf(canvas, row + 1, 0, canvas->cols, STYLE_PLAIN, "Next: %s", next);
}

static void draw_notes(const struct screen *screen, struct lines *lines)
{
	array_for_each(slot, screen->slots, screen->nr_slots) {
		const struct table *findings =
			slot == screen->slots ? findings_of(slot->report) : NULL;

		draw_wrapped(lines, STYLE_BOLD, slot->command);
		if (slot->refused.code) {
			draw_wrapped(lines, STYLE_ALARM, "not measured:");
			draw_wrapped(lines, STYLE_PLAIN, slot->refused.what);
		}
		if (slot->refused.fix[0]) {
			draw_wrapped(lines, STYLE_BOLD, "fix:");
			draw_wrapped(lines, STYLE_PLAIN, slot->refused.fix);
		}
		for (size_t row = 0; findings && row < findings->nr_rows; row++) {
			const char *next = table_str(findings, row, "next");

			draw_wrapped(lines, STYLE_YELLOW,
				     table_str(findings, row, "finding") ?: "");
			if (next)
				draw_wrapped(lines, STYLE_DIM, next);
		}
		if (!slot->report)
			continue;
		array_for_each(note, slot->report->notes, slot->report->nr_notes)
			draw_wrapped(lines, STYLE_PLAIN, *note);
	}
}

static void draw_notes_pane(struct screen *screen, const struct screen_layout *layout,
			    struct canvas *canvas)
{
	struct lines lines = {canvas, layout->info_row, layout->footer_row, .skip = SIZE_MAX};
	size_t *first = &screen->notes.first_row;

	/* The first call counts the lines, the second call draws the visible lines. */
	draw_notes(screen, &lines);
	*first = screen_scroll(*first, *first, lines.nr, lines.end - lines.row);
	lines.skip = *first;
	lines.nr = 0;
	draw_notes(screen, &lines);
}

static void draw_header(const struct screen *screen, const struct report *report,
			struct canvas *canvas)
{
	char clock[16] = "", window[32], every[32];
	time_t seconds = report ? report->time_unix_ns / 1000000000 : 0;
	struct tm tm;
	int x, right;

	if (report && localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	x = canvas_put(canvas, 0, 0, canvas->cols, STYLE_BOLD, "subtick");
	x = canvas_printf(canvas, 0, x + 1, canvas->cols, STYLE_PLAIN, "%s", clock);
	if (report) {
		const struct table *quality = report->quality;

		view_format_ns(report->window_ns, window, sizeof(window));
		x = canvas_printf(canvas, 0, x + 1, canvas->cols, STYLE_PLAIN,
				  "source %s, window %s", report->source ? report->source : "-",
				  window);
		for (size_t i = 0; i < quality->nr_cols; i++) {
			const struct value *value = table_cell(quality, 0, i);
			char number[32];

			if (quality->cols[i].metric->unit != UNIT_RATIO || value->kind != VALUE_F64)
				continue;
			view_format_ratio_fine(value->f64, number, sizeof(number));
			x = canvas_printf(canvas, 0, x, canvas->cols, STYLE_PLAIN, ", %s %s",
					  quality->cols[i].title, number);
		}
	} else {
		x = canvas_put(canvas, 0, x + 1, canvas->cols, STYLE_DIM, "first window ...");
	}
	view_format_ns(screen->interval_ns, every, sizeof(every));
	right = canvas->cols - (int)strlen(every) - 6;
	if (right > x)
		canvas_printf(canvas, 0, right, canvas->cols, STYLE_DIM, "every %s", every);
	if (screen->paused)
		canvas_put(canvas, 0, right - 8, right - 1, STYLE_ALARM, "PAUSED ");
}

static void draw_losses(const struct screen *screen, int row, struct canvas *canvas)
{
	const char *first = "lost: ", *between = first;
	int x = 0;

	array_for_each(slot, screen->slots, screen->nr_slots)
		if (slot->refused.code)
			x = canvas_printf(canvas, row, x, canvas->cols, STYLE_ALARM,
					  "%s not measured (see notes)  ", slot->command);
	array_for_each(slot, screen->slots, screen->nr_slots) {
		const struct table *quality = slot->report ? slot->report->quality : NULL;

		for (size_t col = 0; quality && col < quality->nr_cols; col++) {
			const struct value *value = table_cell(quality, 0, col);
			char number[64];

			if (quality->cols[col].data_only || text_is_zero(value) ||
			    !text_is_loss(&quality->cols[col], value))
				continue;
			view_format_value(value, quality->cols[col].metric->unit, number,
					  sizeof(number));
			x = canvas_printf(canvas, row, x, canvas->cols, STYLE_YELLOW, "%s%s %s %s",
					  between, slot->command, quality->cols[col].title, number);
			between = ", ";
		}
	}
	if (between == first && screen->slots[0].report)
		canvas_put(canvas, row, x, canvas->cols, STYLE_GREEN, "lost: nothing");
}

/* Drawn tabs, from index @first on. @brief: only the first tab of a command shows the command. */
struct tabs {
	const struct screen *screen;
	size_t first;
	bool brief;
};

static void tab_label(const struct tabs *tabs, size_t i, char *buf, size_t size)
{
	const struct screen *screen = tabs->screen;
	size_t slot;

	if (i == screen->nr_panes) {
		snprintf(buf, size, " notes ");
		return;
	}
	slot = screen->panes[i].slot;
	if (tabs->brief && i > tabs->first && screen->panes[i - 1].slot == slot)
		snprintf(buf, size, " %s ", screen->panes[i].key);
	else
		snprintf(buf, size, " %s %s ", screen->slots[slot].command, screen->panes[i].key);
}

static int tabs_width(const struct tabs *tabs, size_t last)
{
	char label[96];
	int width = 0;

	for (size_t i = tabs->first; i <= last; i++) {
		tab_label(tabs, i, label, sizeof(label));
		width += (int)utf8_width(label) + (i > tabs->first);
	}
	return width;
}

static void draw_tabs(const struct screen *screen, int row, struct canvas *canvas)
{
	struct tabs tabs = {.screen = screen};
	size_t last = screen->nr_panes;
	int x = 0, end = canvas->cols;
	char label[96];

	tabs.brief = tabs_width(&tabs, last) > end;
	/* The tab of the notes and the tab of the active pane are always visible. */
	if (tabs_width(&tabs, last) > end)
		end -= (int)strlen("> notes ");
	while (tabs.first < screen->active && screen->active < last &&
	       tabs_width(&tabs, screen->active) > end)
		tabs.first++;
	for (size_t i = tabs.first; i <= last; i++) {
		tab_label(&tabs, i, label, sizeof(label));
		if (i == last && end < canvas->cols) {
			canvas_put(canvas, row, end, end + 1, STYLE_DIM, ">");
			x = end + 1;
			end = canvas->cols;
		}
		x = canvas_put(canvas, row, x, end,
			       i == screen->active ? STYLE_REVERSE : STYLE_DIM, label) +
		    1;
	}
}

static void draw_footer(const struct screen *screen, int row, struct canvas *canvas)
{
	int x;

	if (!screen->editing) {
		canvas_put(canvas, row, 0, canvas->cols, STYLE_DIM,
			   "q quit  p pause  Tab pane  s/S sort  r reverse  f filter  +/- interval "
			   " h help");
		return;
	}
	x = canvas_put(canvas, row, 0, canvas->cols, STYLE_BOLD, "filter: ");
	x = canvas_put(canvas, row, x, canvas->cols, STYLE_PLAIN, screen->draft);
	x = canvas_put(canvas, row, x, canvas->cols, STYLE_REVERSE, " ");
	canvas_put(canvas, row, x + 2, canvas->cols, STYLE_DIM,
		   "Enter keeps the filter, Esc discards it");
}

static void draw_help(struct canvas *canvas)
{
	static const char *const text[] = {
		"After each bar: the measured busy share, then that of /proc/stat, which top shows;",
		"if there is room, earlier windows, the latest on the right.",
		NULL, /* empty line, into which draw_help() writes LOAD_WRONG_RATIO */
		"More in subtick(8).",
	};
	int row = 2;

	canvas_put(canvas, 0, 0, canvas->cols, STYLE_BOLD, "subtick: keys");
	for (size_t i = 0; i < ARRAY_SIZE(help); i++, row++) {
		canvas_put(canvas, row, 2, canvas->cols, STYLE_BOLD, help[i][0]);
		canvas_put(canvas, row, 34, canvas->cols, STYLE_PLAIN, help[i][1]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		canvas_put(canvas, ++row, 0, canvas->cols, STYLE_PLAIN, text[i] ?: "");
	canvas_printf(canvas, row - 1, 0, canvas->cols, STYLE_PLAIN,
		      "Red: /proc/stat is more than %.0f points off. Lost: events that no figure "
		      "contains.",
		      LOAD_WRONG_RATIO * 100.0);
}

static void draw_pane(struct screen *screen, const struct screen_layout *layout,
		      struct canvas *canvas)
{
	struct screen_pane *pane = screen_active(screen);

	if (!pane->key[0])
		draw_notes_pane(screen, layout, canvas);
	else if (screen_table(screen, pane))
		screen_panes_draw(screen, layout, canvas);
	else
		canvas_put(canvas, layout->info_row, 0, canvas->cols, STYLE_DIM,
			   screen->slots[pane->slot].refused.code
				   ? "no longer measured; the notes say why"
				   : "not in this window");
}

static void draw_all(struct screen *screen, const struct report *report, const struct table *cores,
		     const struct screen_layout *layout, struct canvas *canvas)
{
	draw_header(screen, report ?: screen->slots[0].report, canvas);
	if (cores)
		screen_cores_draw(screen, cores, layout, canvas);
	draw_finding(screen, layout->finding_row, canvas);
	draw_losses(screen, layout->loss_row, canvas);
	draw_tabs(screen, layout->tabs_row, canvas);
	draw_pane(screen, layout, canvas);
	draw_footer(screen, layout->footer_row, canvas);
}

int screen_draw(struct screen *screen, struct canvas *canvas)
{
	const struct report *report = NULL;
	const struct table *cores = screen_cores(screen, &report);
	struct screen_wants wants = {.rows = canvas->rows, .cols = canvas->cols};
	struct screen_layout layout = {0};

	canvas->ascii = screen->ascii;
	if (cores) {
		wants.nr_cores = cores->nr_rows;
		wants.name_width = screen_cores_name_width(cores);
		wants.figure_width = screen_cores_figure_width(cores);
		wants.legend_rows = screen_cores_legend(screen, cores, &layout, canvas->cols, NULL);
	}
	screen_layout(&wants, &layout);
	if (layout.too_small) {
		canvas_printf(canvas, 0, 0, canvas->cols, STYLE_BOLD, "subtick needs %d x %d",
			      SCREEN_MIN_COLS, SCREEN_MIN_ROWS);
		canvas_printf(canvas, 1, 0, canvas->cols, STYLE_PLAIN, "this is %d x %d",
			      canvas->cols, canvas->rows);
		canvas_put(canvas, 2, 0, canvas->cols, STYLE_PLAIN, "q quits");
	} else {
		screen->page = layout.table_rows;
		if (screen->help)
			draw_help(canvas);
		else
			draw_all(screen, report, cores, &layout, canvas);
	}
	return canvas->failed ? -ENOMEM : 0;
}
