/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws the live screen: header, cores, losses, panes, notes, help. */
#include "view/screen/draw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/find.h"
#include "report/findings.h"
#include "base/load_wrong.h"
#include "view/text_put.h"
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

static int draw_wrapped(struct canvas *canvas, int row, int end, size_t skip, size_t *line,
			enum style style, const char *text)
{
	char *safe = utf8_printable(text, 0), *at = safe;
	int x = 0;

	if (!safe)
		return -ENOMEM;
	while (*at) {
		size_t len = strcspn(at, " ");
		int width = utf8_width_of(at, len);
		char keep = at[len];

		if (x && x + 1 + width > canvas->cols) {
			(*line)++;
			x = 0;
		}
		x += x ? 1 : 0;
		at[len] = '\0';
		if (*line >= skip && row + (int)(*line - skip) < end)
			canvas_put(canvas, row + (*line - skip), x, canvas->cols, style, at);
		at[len] = keep;
		x += width;
		at += len;
		at += strspn(at, " ");
	}
	(*line)++;
	free(safe);
	return 0;
}

/* The finding of all reports that loses most time; NULL if there is none. */
static const char *first_finding(const struct screen *screen, size_t *ret_nr)
{
	const char *text = NULL;
	double most = 0.0;

	*ret_nr = 0;
	for (size_t i = 0; i < screen->nr_slots; i++) {
		const struct report *report = screen->slots[i].report;
		const struct table *table = report ? findings_of(report) : NULL;
		double lost;

		if (!table || !table->nr_rows || !report->window_ns)
			continue;
		*ret_nr += table->nr_rows;
		lost = table_number(table, 0, "lost_ns") / (double)report->window_ns;
		if (!text || lost > most) {
			text = table_str(table, 0, "finding");
			most = lost;
		}
	}
	return text;
}

static int draw_finding(const struct screen *screen, int row, struct canvas *canvas)
{
	size_t nr;
	const char *text = first_finding(screen, &nr);
	char *safe = text ? utf8_printable(text, 0) : NULL;
	char more[40] = "";
	int end;

	if (!text && screen->nr_slots && screen->slots[0].report)
		canvas_put(canvas, row, 0, canvas->cols, STYLE_GREEN, "findings: none");
	if (!safe)
		return text ? -ENOMEM : 0;
	if (nr > 1)
		snprintf(more, sizeof(more), " +%zu (see notes)", nr - 1);
	end = canvas->cols - (int)strlen(more);
	canvas_put(canvas, row, 0, end, STYLE_YELLOW, safe);
	canvas_put(canvas, row, end, canvas->cols, STYLE_DIM, more);
	free(safe);
	return 0;
}

static int draw_slot_findings(const struct report *report, int row, int end, size_t skip,
			      size_t *line, struct canvas *canvas)
{
	const struct table *table = report ? findings_of(report) : NULL;
	int rc = 0;

	for (size_t i = 0; table && i < table->nr_rows && !rc; i++) {
		const char *next = table_str(table, i, "next");

		rc = draw_wrapped(canvas, row, end, skip, line, STYLE_YELLOW,
				  table_str(table, i, "finding") ?: "");
		if (!rc && next)
			rc = draw_wrapped(canvas, row, end, skip, line, STYLE_DIM, next);
	}
	return rc;
}

/* Draws the notes of all reports, and what is not measured with the reason and the fix. */
static int draw_notes(const struct screen *screen, size_t skip, int row, int end,
		      struct canvas *canvas, size_t *ret_lines)
{
	size_t line = 0;
	int rc = 0;

	for (size_t i = 0; i < screen->nr_slots && !rc; i++) {
		const struct screen_slot *slot = &screen->slots[i];

		rc = draw_wrapped(canvas, row, end, skip, &line, STYLE_BOLD, slot->command);
		if (!rc && slot->refused) {
			rc = draw_wrapped(canvas, row, end, skip, &line, STYLE_ALARM,
					  "not measured:");
			rc = rc ? rc
				: draw_wrapped(canvas, row, end, skip, &line, STYLE_PLAIN,
					       slot->refused);
		}
		if (!rc && slot->refused && *slot->fix) {
			rc = draw_wrapped(canvas, row, end, skip, &line, STYLE_BOLD, "fix:");
			rc = rc ? rc
				: draw_wrapped(canvas, row, end, skip, &line, STYLE_PLAIN,
					       slot->fix);
		}
		if (!rc)
			rc = draw_slot_findings(slot->report, row, end, skip, &line, canvas);
		for (size_t j = 0; slot->report && j < slot->report->nr_notes && !rc; j++)
			rc = draw_wrapped(canvas, row, end, skip, &line, STYLE_PLAIN,
					  slot->report->notes[j]);
	}
	*ret_lines = line;
	return rc;
}

static int draw_notes_pane(struct screen *screen, const struct screen_layout *layout,
			   struct canvas *canvas)
{
	int top = layout->info_row;
	size_t room = layout->footer_row - top, lines = 0;
	int rc;

	/* First pass: beyond the end, only to count the lines. Second pass: the visible lines. */
	rc = draw_notes(screen, SIZE_MAX, top, layout->footer_row, canvas, &lines);
	if (rc)
		return rc;
	screen->notes.first_row =
		screen_scroll(screen->notes.first_row, screen->notes.first_row, lines, room);
	return draw_notes(screen, screen->notes.first_row, top, layout->footer_row, canvas, &lines);
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

static int draw_slot_losses(const struct screen_slot *slot, int row, int x, bool *any,
			    struct canvas *canvas)
{
	const struct table *quality = slot->report ? slot->report->quality : NULL;

	for (size_t i = 0; quality && i < quality->nr_cols; i++) {
		const struct value *value = table_cell(quality, 0, i);
		char number[64];

		if (quality->cols[i].data_only || !text_is_loss(&quality->cols[i], value) ||
		    text_is_zero(value))
			continue;
		view_format_value(value, quality->cols[i].metric->unit, number, sizeof(number));
		x = canvas_printf(canvas, row, x, canvas->cols, STYLE_YELLOW, "%s%s %s %s",
				  *any ? ", " : "lost: ", slot->command, quality->cols[i].title,
				  number);
		*any = true;
	}
	return x;
}

static void draw_losses(const struct screen *screen, int row, struct canvas *canvas)
{
	bool any = false;
	int x = 0;

	for (size_t i = 0; i < screen->nr_slots; i++)
		if (screen->slots[i].refused)
			x = canvas_printf(canvas, row, x, canvas->cols, STYLE_ALARM,
					  "%s not measured (see notes)  ",
					  screen->slots[i].command);
	for (size_t i = 0; i < screen->nr_slots; i++)
		x = draw_slot_losses(&screen->slots[i], row, x, &any, canvas);
	if (!any && screen->nr_slots && screen->slots[0].report)
		canvas_put(canvas, row, x, canvas->cols, STYLE_GREEN, "lost: nothing");
}

/* The tabs from @first on; @brief: the command only before its first pane. */
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

/* Columns up to the tab @last, with that. */
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
	char label[96];
	int x = 0;

	tabs.brief = tabs_width(&tabs, screen->nr_panes) > canvas->cols;
	/* The active pane's tab must be visible. */
	while (tabs.first < screen->active && tabs_width(&tabs, screen->active) > canvas->cols)
		tabs.first++;
	for (size_t i = tabs.first; i <= screen->nr_panes; i++) {
		tab_label(&tabs, i, label, sizeof(label));
		x = canvas_put(canvas, row, x, canvas->cols,
			       i == screen->active ? STYLE_REVERSE : STYLE_DIM, label) +
		    1;
	}
	if (tabs_width(&tabs, screen->nr_panes) > canvas->cols)
		canvas_put(canvas, row, canvas->cols - 1, canvas->cols, STYLE_DIM, ">");
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
	canvas_put(canvas, row, x + 2, canvas->cols, STYLE_DIM, "Enter keeps it, Esc discards it");
}

static void draw_help(struct canvas *canvas)
{
	int row = 0;

	canvas_put(canvas, row, 0, canvas->cols, STYLE_BOLD, "subtick: keys");
	row += 2;
	for (size_t i = 0; i < sizeof(help) / sizeof(help[0]); i++, row++) {
		canvas_put(canvas, row, 2, canvas->cols, STYLE_BOLD, help[i][0]);
		canvas_put(canvas, row, 34, canvas->cols, STYLE_PLAIN, help[i][1]);
	}
	row++;
	canvas_put(canvas, row++, 0, canvas->cols, STYLE_PLAIN,
		   "After each bar: the measured busy share, then that of /proc/stat, which top "
		   "shows;");
	canvas_put(canvas, row++, 0, canvas->cols, STYLE_PLAIN,
		   "if there is room, earlier windows, the latest on the right.");
	canvas_printf(canvas, row++, 0, canvas->cols, STYLE_PLAIN,
		      "Red: /proc/stat is more than %.0f points off. Lost: events that no figure "
		      "contains.",
		      LOAD_WRONG_RATIO * 100.0);
	canvas_put(canvas, row, 0, canvas->cols, STYLE_PLAIN, "More in subtick(8).");
}

static int draw_pane(struct screen *screen, const struct screen_layout *layout,
		     struct canvas *canvas)
{
	struct screen_pane *pane = screen_active(screen);
	const struct table *table = screen_table(screen, pane);

	if (!pane->key)
		return draw_notes_pane(screen, layout, canvas);
	if (table)
		return screen_stack_draw(screen, layout, canvas);
	canvas_put(canvas, layout->info_row, 0, canvas->cols, STYLE_DIM,
		   screen->slots[pane->slot].refused ? "no longer measured; the notes say why"
						     : "not in this window");
	return 0;
}

int screen_draw(struct screen *screen, struct canvas *canvas)
{
	const struct report *report = NULL;
	const struct table *cores = screen_cores(screen, &report);
	struct screen_wants wants = {.rows = canvas->rows, .cols = canvas->cols};
	struct screen_layout layout = {0};
	int rc;

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
		return canvas->failed ? -ENOMEM : 0;
	}
	screen->page = layout.table_rows;
	if (screen->help) {
		draw_help(canvas);
		return canvas->failed ? -ENOMEM : 0;
	}
	if (!report && screen->nr_slots)
		report = screen->slots[0].report;
	draw_header(screen, report, canvas);
	if (cores)
		screen_cores_draw(screen, cores, &layout, canvas);
	rc = draw_finding(screen, layout.finding_row, canvas);
	draw_losses(screen, layout.loss_row, canvas);
	draw_tabs(screen, layout.tabs_row, canvas);
	if (!rc)
		rc = draw_pane(screen, &layout, canvas);
	draw_footer(screen, layout.footer_row, canvas);
	return rc ? rc : canvas->failed ? -ENOMEM : 0;
}
