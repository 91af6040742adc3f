/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files that draw the live screen: layout, cores, rows and panes. */
#ifndef SUBTICK_VIEW_SCREEN_DRAW_H
#define SUBTICK_VIEW_SCREEN_DRAW_H

#include "view/screen/canvas.h"
#include "view/screen/screen.h"

#define SCREEN_MIN_ROWS 24
#define SCREEN_MIN_COLS 80
#define SCREEN_PANE_HEAD 2 /* lines of a pane above its rows: information and heading */

enum screen_cores {
	SCREEN_CORES_NONE,
	SCREEN_CORES_BARS, /* a bar each, in columns */
	SCREEN_CORES_MAP,  /* a character each, or one for a group of them */
};

struct screen_layout {
	bool too_small;
	enum screen_cores mode;
	int cores_top, cores_rows;
	int columns, cell_width, bar_width; /* bars; the width of the bar includes its edges */
	int history_width;		    /* bars: earlier windows, after the figures */
	int per_row;			    /* map: characters per line */
	size_t group;			    /* map: cores per character */
	int legend_top, legend_rows;
	int finding_row, loss_row, tabs_row;
	int info_row; /* first line of the panes */
	int table_rows;
	int footer_row;
};

struct screen_wants {
	int rows, cols;
	size_t nr_cores;
	int name_width;	  /* of a core's number */
	int figure_width; /* of the figures after a bar */
	int legend_rows;
};

void screen_layout(const struct screen_wants *wants, struct screen_layout *ret_layout);

/*
 * The first of @nr items to show in @room, so that @at is visible and the view moves as little as
 * possible from @first.
 */
size_t screen_scroll(size_t first, size_t at, size_t nr, size_t room);

/* Widths of a core's name and of the figures after its bar. */
int screen_cores_name_width(const struct table *table);
int screen_cores_figure_width(const struct table *table);
/* The number of lines of the legend; also draws it unless @canvas is NULL. */
int screen_cores_legend(const struct screen *screen, const struct table *table,
			const struct screen_layout *layout, int cols, struct canvas *canvas);
void screen_cores_draw(const struct screen *screen, const struct table *table,
		       const struct screen_layout *layout, struct canvas *canvas);

/* Adds the busy shares of a window; 0 or -ENOMEM. */
int screen_history_add(struct screen_history *history, const struct table *cores);
void screen_history_free(struct screen_history *history);

#define SCREEN_OWN_ORDER (-1)

/* True if a column is shown. @all: also columns of JSON and CSV only. */
bool screen_col_shown(const struct table *table, size_t col, bool all);
/* The default order: figures descending, names and identifiers ascending. */
bool screen_col_descends(const struct table *table, size_t col);

/*
 * The rows whose names contain @filter, in upper or lower case, sorted by column @sort or in the
 * report's order. Unavailable values are always last. Equal rows keep the report's order. Returns
 * their number, or -ENOMEM.
 */
long screen_rows(const struct table *table, const char *filter, int sort, bool descending,
		 size_t **ret_rows);

/* Draws the active pane, which has a table, and the panes after it if there is room. */
void screen_panes_draw(struct screen *screen, const struct screen_layout *layout,
		       struct canvas *canvas);

#endif
