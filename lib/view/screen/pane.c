/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws the active pane and, if lines are left, the following panes. */
#include "view/screen/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/cells.h"
#include "view/utf8.h"
#include "view/view.h"

/* Minimum width of columns with counts, so that columns do not move between windows. */
#define COUNT_MIN strlen("123456")
#define LEAST	  2 /* minimum number of table rows in a pane */

/* Table columns of a pane. Columns that identify the row come first and are always visible. */
struct fit {
	const struct table *table;
	struct fit_col {
		size_t col;
		int width;
	} *cols;
	size_t nr, nr_keys;
	/* numbers of visible columns, and of columns hidden on the right */
	size_t nr_visible, nr_right;
};

static int col_width(const struct table *table, size_t col, const size_t *rows, size_t nr_rows,
		     int max, struct canvas *canvas)
{
	/* A column title needs one more character for the arrow of the sort order. */
	size_t title = utf8_width(table->cols[col].title) + 1, min = cells_min_width(table, col);
	int width = title > min ? title : min;

	if (table->cols[col].metric->unit == UNIT_COUNT && width < (int)COUNT_MIN)
		width = COUNT_MIN;
	for (size_t i = 0; i < nr_rows && !canvas->failed; i++) {
		char *text = cells_text(table, rows[i], col, max);

		canvas->failed |= !text;
		if (text && (int)utf8_width(text) > width)
			width = utf8_width(text);
		free(text);
	}
	return width;
}

static void fit_init(struct fit *fit, const struct screen_pane *pane, const struct table *table,
		     const size_t *rows, size_t nr_rows, struct canvas *canvas)
{
	int max = cells_name_max(canvas->cols);
	bool keys = true;

	*fit = (struct fit){.table = table};
	fit->cols = calloc(table->nr_cols + 1, sizeof(*fit->cols));
	canvas->failed |= !fit->cols;
	for (size_t col = 0; !canvas->failed && col < table->nr_cols; col++) {
		if (!screen_col_shown(table, col, pane->all) || cells_blank(table, col))
			continue;
		keys = keys && cells_name(table, col) && fit->nr_keys < 2;
		fit->nr_keys += keys;
		fit->cols[fit->nr++] = (struct fit_col){
			col, col_width(table, col, rows, nr_rows, max, canvas)};
	}
}

/* Returns the end of the columns that fit on the screen, from column @first on. */
static size_t fit_end(const struct fit *fit, size_t first, int cols)
{
	array_for_each(key, fit->cols, fit->nr_keys)
		cols -= key->width + CELLS_GAP;
	for (; first < fit->nr && fit->cols[first].width <= cols; first++)
		cols -= fit->cols[first].width + CELLS_GAP;
	return first;
}

/* Scrolls so that the sort column is visible, and drops hidden columns from fit->cols. */
static void fit_scroll(struct fit *fit, struct screen_pane *pane, int sort, int cols)
{
	size_t others = fit->nr - fit->nr_keys, end;

	if (pane->first_col >= others)
		pane->first_col = others ? others - 1 : 0;
	for (size_t i = fit->nr_keys; pane->follow_sort && sort >= 0 && i < fit->nr; i++) {
		if (fit->cols[i].col != (size_t)sort)
			continue;
		if (i < fit->nr_keys + pane->first_col)
			pane->first_col = i - fit->nr_keys;
		while (fit_end(fit, fit->nr_keys + pane->first_col, cols) <= i &&
		       pane->first_col < i - fit->nr_keys)
			pane->first_col++;
	}
	/* If columns fit on the right, scroll left to show hidden columns. */
	while (pane->first_col && fit_end(fit, fit->nr_keys + pane->first_col - 1, cols) == fit->nr)
		pane->first_col--;
	end = fit_end(fit, fit->nr_keys + pane->first_col, cols);
	fit->nr_right = fit->nr - end;
	fit->nr_visible = end - pane->first_col;
	if (pane->first_col)
		memmove(&fit->cols[fit->nr_keys], &fit->cols[fit->nr_keys + pane->first_col],
			(fit->nr_visible - fit->nr_keys) * sizeof(*fit->cols));
}

static void put_aligned(struct canvas *canvas, int row, int col, int width, bool left,
			enum style style, const char *text)
{
	int needs = utf8_width(text);

	canvas_put(canvas, row, left || needs > width ? col : col + width - needs, col + width, style,
		   text);
}

static void draw_heading(const struct screen *screen, const struct screen_pane *pane,
			 const struct fit *fit, int sort, int y, struct canvas *canvas)
{
	const char *down = screen->ascii ? "v" : "▼", *up = screen->ascii ? "^" : "▲";
	int x = 0;

	array_for_each(at, fit->cols, fit->nr_visible) {
		bool sorted = sort >= 0 && at->col == (size_t)sort;
		char title[128];

		snprintf(title, sizeof(title), "%s%s", fit->table->cols[at->col].title,
			 !sorted	    ? ""
			 : pane->descending ? down
					    : up);
		put_aligned(canvas, y, x, at->width, cells_left(fit->table, at->col),
			    sorted ? STYLE_REVERSE : STYLE_BOLD, title);
		x += at->width + CELLS_GAP;
	}
}

static void draw_row(const struct fit *fit, size_t row, int y, struct canvas *canvas)
{
	int x = 0;

	array_for_each(at, fit->cols, fit->nr_visible) {
		char *text = cells_text(fit->table, row, at->col, at->width);

		canvas->failed |= !text;
		put_aligned(canvas, y, x, at->width, cells_left(fit->table, at->col), STYLE_PLAIN,
			    text ?: "");
		free(text);
		x += at->width + CELLS_GAP;
	}
}

/*
 * Writes the numbers of table columns hidden on each side, at the right edge of line @y. Returns
 * the screen column to the left of this text.
 */
static int draw_hidden(const struct screen_pane *pane, const struct fit *fit, int y,
		       struct canvas *canvas)
{
	size_t right = fit->nr_right, left = pane->first_col;
	char text[64] = "";

	if (left && right)
		snprintf(text, sizeof(text), "< %zu, %zu more columns >", left, right);
	else if (left)
		snprintf(text, sizeof(text), "< %zu more column%s", left, left == 1 ? "" : "s");
	else if (right)
		snprintf(text, sizeof(text), "%zu more column%s >", right, right == 1 ? "" : "s");
	canvas_put(canvas, y, canvas->cols - strlen(text), canvas->cols, STYLE_DIM, text);
	return canvas->cols - strlen(text) - 1;
}

static void draw_info(const struct screen *screen, const struct screen_pane *pane,
		      const struct table *table, size_t nr, int y, int end, struct canvas *canvas)
{
	const struct report *report = screen->slots[pane->slot].report;
	char window[32];
	int x;

	view_format_ns(report->window_ns, window, sizeof(window));
	x = canvas_printf(canvas, y, 0, end, STYLE_PLAIN, "%s: %s%s%swindow %s, ",
			  table->title ?: table->key, report->source ? "source " : "",
			  report->source ?: "", report->source ? ", " : "", window);
	if (!pane->filter[0]) {
		canvas_printf(canvas, y, x, end, STYLE_PLAIN, "%zu row%s", nr, nr == 1 ? "" : "s");
		return;
	}
	x = canvas_printf(canvas, y, x, end, STYLE_PLAIN, "%zu of %zu rows, ", nr, table->nr_rows);
	canvas_printf(canvas, y, x, end, STYLE_YELLOW, "filter \"%s\"", pane->filter);
}

/* Draws a pane from line @top to the line above @footer. Returns the number of rows that fit. */
static int draw_pane(struct screen *screen, struct screen_pane *pane, const struct table *table,
		     int top, int footer, struct canvas *canvas)
{
	int sort = table_find(table, pane->sort);
	size_t *rows = NULL, room = footer - top - SCREEN_PANE_HEAD;
	long nr = screen_rows(table, pane->filter, sort, pane->descending, &rows);
	struct fit fit;

	if (nr < 0) {
		canvas->failed = true;
		return room;
	}
	/* A pane keeps its largest number of lines, so that the panes below rarely move. */
	if ((size_t)nr > pane->rows_had)
		pane->rows_had = nr;
	/* If another pane does not fit below this pane, this pane uses all remaining lines. */
	if ((pane->rows_had ?: 1) + 1 + SCREEN_PANE_HEAD + LEAST < room)
		room = pane->rows_had ?: 1;
	fit_init(&fit, pane, table, rows, nr, canvas);
	fit_scroll(&fit, pane, sort, canvas->cols);
	pane->first_row = screen_scroll(pane->first_row, pane->first_row, nr, room);
	draw_info(screen, pane, table, nr, top, draw_hidden(pane, &fit, top, canvas), canvas);
	draw_heading(screen, pane, &fit, sort, top + 1, canvas);
	for (size_t i = 0; i < room && pane->first_row + i < (size_t)nr; i++)
		draw_row(&fit, rows[pane->first_row + i], top + SCREEN_PANE_HEAD + i, canvas);
	if (!nr)
		canvas_put(canvas, top + SCREEN_PANE_HEAD, 0, canvas->cols, STYLE_DIM,
			   pane->filter[0] ? "no row matches the filter" : "none in this window");
	free(fit.cols);
	free(rows);
	return room;
}

void screen_panes_draw(struct screen *screen, const struct screen_layout *layout,
		       struct canvas *canvas)
{
	int top = layout->info_row, footer = layout->footer_row;

	for (size_t i = 0; i < screen->nr_panes; i++) {
		struct screen_pane *pane = &screen->panes[(screen->active + i) % screen->nr_panes];
		const struct table *table = screen_table(screen, pane);
		int rows;

		if (!table || (i && !table->nr_rows && !pane->rows_had))
			continue;
		if (i && footer - top < 1 + SCREEN_PANE_HEAD + LEAST)
			break;
		top += i > 0;
		rows = draw_pane(screen, pane, table, top, footer, canvas);
		top += SCREEN_PANE_HEAD + rows;
		if (!i)
			screen->page = rows;
	}
}
