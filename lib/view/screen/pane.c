/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws one table of a report: the columns that fit and the visible rows. */
#include "view/screen/draw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/cells.h"
#include "view/screen/rows.h"
#include "view/utf8.h"
#include "view/view.h"

/* So that columns of counts do not move from one window to the next. */
#define COUNT_MIN strlen("123456")

/* The columns shown; those that name the row come first and are always visible. */
struct fit {
	const struct table *table;
	size_t *cols;
	int *widths;
	size_t nr, nr_keys;
	size_t first, end; /* the visible ones of the others */
};

static int col_width(const struct table *table, size_t col, const size_t *rows, size_t nr_rows,
		     int max, int *ret_width)
{
	/* One more than the title, for the arrow of the sort order. */
	size_t title = utf8_width(table->cols[col].title) + 1, min = cells_min_width(table, col);
	int width = title > min ? title : min;

	if (table->cols[col].metric->unit == UNIT_COUNT && width < (int)COUNT_MIN)
		width = COUNT_MIN;
	for (size_t i = 0; i < nr_rows; i++) {
		char *text = cells_text(table, rows[i], col, max);

		if (!text)
			return -ENOMEM;
		if ((int)utf8_width(text) > width)
			width = utf8_width(text);
		free(text);
	}
	*ret_width = width;
	return 0;
}

static void fit_free(struct fit *fit)
{
	free(fit->cols);
	free(fit->widths);
}

static int fit_init(struct fit *fit, const struct screen_pane *pane, const struct table *table,
		    const size_t *rows, size_t nr_rows, int cols)
{
	int max = cells_name_max(cols), rc = 0;
	bool keys = true;

	*fit = (struct fit){.table = table};
	fit->cols = calloc(table->nr_cols + 1, sizeof(*fit->cols));
	fit->widths = calloc(table->nr_cols + 1, sizeof(*fit->widths));
	if (!fit->cols || !fit->widths)
		rc = -ENOMEM;
	for (size_t col = 0; !rc && col < table->nr_cols; col++) {
		if (!screen_col_shown(table, col, pane->all) || cells_blank(table, col))
			continue;
		keys = keys && cells_name(table, col) && fit->nr_keys < 2;
		fit->nr_keys += keys;
		fit->cols[fit->nr] = col;
		rc = col_width(table, col, rows, nr_rows, max, &fit->widths[fit->nr]);
		fit->nr++;
	}
	if (rc)
		fit_free(fit);
	return rc;
}

static size_t fit_end(const struct fit *fit, size_t first, int cols)
{
	size_t i;

	for (i = 0; i < fit->nr_keys; i++)
		cols -= fit->widths[i] + CELLS_GAP;
	for (i = first; i < fit->nr && fit->widths[i] <= cols; i++)
		cols -= fit->widths[i] + CELLS_GAP;
	return i;
}

/* Corrects the scroll position, and makes the sort column visible. */
static void fit_scroll(struct fit *fit, struct screen_pane *pane, int sort, int cols)
{
	size_t others = fit->nr - fit->nr_keys;

	if (pane->first_col >= others)
		pane->first_col = others ? others - 1 : 0;
	for (size_t i = fit->nr_keys; pane->follow_sort && sort >= 0 && i < fit->nr; i++) {
		if (fit->cols[i] != (size_t)sort)
			continue;
		if (i < fit->nr_keys + pane->first_col)
			pane->first_col = i - fit->nr_keys;
		while (fit_end(fit, fit->nr_keys + pane->first_col, cols) <= i &&
		       pane->first_col < i - fit->nr_keys)
			pane->first_col++;
	}
	/* If there is room on the right, show hidden columns of the left. */
	while (pane->first_col && fit_end(fit, fit->nr_keys + pane->first_col - 1, cols) == fit->nr)
		pane->first_col--;
	fit->first = fit->nr_keys + pane->first_col;
	fit->end = fit_end(fit, fit->first, cols);
}

static void put_aligned(struct canvas *canvas, int row, int col, int width, bool left,
			enum style style, const char *text)
{
	int needs = utf8_width(text);

	if (!left && needs < width)
		col += width - needs, width = needs;
	canvas_put(canvas, row, col, col + width, style, text);
}

static void draw_heading(const struct screen *screen, const struct screen_pane *pane,
			 const struct fit *fit, int sort, int y, struct canvas *canvas)
{
	const char *down = screen->ascii ? "v" : "▼", *up = screen->ascii ? "^" : "▲";
	int x = 0;

	for (size_t i = 0; i < fit->end; i++) {
		size_t col = fit->cols[i];
		bool sorted = sort >= 0 && col == (size_t)sort;
		char title[128];

		if (i >= fit->nr_keys && i < fit->first)
			continue;
		snprintf(title, sizeof(title), "%s%s", fit->table->cols[col].title,
			 !sorted	    ? ""
			 : pane->descending ? down
					    : up);
		put_aligned(canvas, y, x, fit->widths[i], cells_left(fit->table, col),
			    sorted ? STYLE_REVERSE : STYLE_BOLD, title);
		x += fit->widths[i] + CELLS_GAP;
	}
}

static int draw_row(const struct fit *fit, size_t row, int y, struct canvas *canvas)
{
	int x = 0;

	for (size_t i = 0; i < fit->end; i++) {
		char *text;

		if (i >= fit->nr_keys && i < fit->first)
			continue;
		text = cells_text(fit->table, row, fit->cols[i], fit->widths[i]);
		if (!text)
			return -ENOMEM;
		put_aligned(canvas, y, x, fit->widths[i], cells_left(fit->table, fit->cols[i]),
			    STYLE_PLAIN, text);
		free(text);
		x += fit->widths[i] + CELLS_GAP;
	}
	return 0;
}

/* Shows on the right how many columns are hidden, and on which side. */
static int draw_hidden(const struct screen_pane *pane, const struct fit *fit, int y,
		       struct canvas *canvas)
{
	size_t right = fit->nr - fit->end, left = pane->first_col;
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
	x = canvas_printf(canvas, y, 0, end, STYLE_PLAIN,
			  "%s: ", table->title ? table->title : table->key);
	if (report->source)
		x = canvas_printf(canvas, y, x, end, STYLE_PLAIN, "source %s, ", report->source);
	x = canvas_printf(canvas, y, x, end, STYLE_PLAIN, "window %s, ", window);
	if (!pane->filter[0]) {
		canvas_printf(canvas, y, x, end, STYLE_PLAIN, "%zu row%s", nr, nr == 1 ? "" : "s");
		return;
	}
	x = canvas_printf(canvas, y, x, end, STYLE_PLAIN, "%zu of %zu rows, ", nr, table->nr_rows);
	canvas_printf(canvas, y, x, end, STYLE_YELLOW, "filter \"%s\"", pane->filter);
}

int screen_pane_draw(struct screen *screen, struct screen_pane *pane, const struct table *table,
		     const struct screen_layout *layout, struct canvas *canvas)
{
	int sort = pane->sort ? table_find(table, pane->sort) : SCREEN_OWN_ORDER;
	size_t *rows = NULL, room = layout->table_rows;
	long nr = screen_rows(table, pane->filter, sort, pane->descending, &rows);
	struct fit fit;
	int rc;

	if (nr < 0)
		return nr;
	rc = fit_init(&fit, pane, table, rows, nr, canvas->cols);
	if (rc) {
		free(rows);
		return rc;
	}
	fit_scroll(&fit, pane, sort, canvas->cols);
	pane->first_row = screen_scroll(pane->first_row, pane->first_row, nr, room);
	draw_info(screen, pane, table, nr, layout->info_row,
		  draw_hidden(pane, &fit, layout->info_row, canvas), canvas);
	draw_heading(screen, pane, &fit, sort, layout->heading_row, canvas);
	for (size_t i = 0; !rc && i < room && pane->first_row + i < (size_t)nr; i++)
		rc = draw_row(&fit, rows[pane->first_row + i], layout->table_top + i, canvas);
	if (!nr)
		canvas_put(canvas, layout->table_top, 0, canvas->cols, STYLE_DIM,
			   pane->filter[0] ? "no row matches the filter" : "none in this window");
	fit_free(&fit);
	free(rows);
	return rc;
}
