/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files that draw the live screen: layout, cores, rows and panes. */
#ifndef SUBTICK_VIEW_SCREEN_DRAW_H
#define SUBTICK_VIEW_SCREEN_DRAW_H

#include "view/screen/canvas.h"
#include "view/screen/screen.h"

#define SCREEN_MIN_ROWS 24
#define SCREEN_MIN_COLS 80
#define SCREEN_PANE_HEAD 2 /* lines above the rows of a pane: information line and heading */

enum screen_cores {
	SCREEN_CORES_NONE,
	SCREEN_CORES_BARS, /* one bar per core, in columns */
	SCREEN_CORES_MAP,  /* one character per core or per group of cores */
};

struct screen_layout {
	bool too_small;
	enum screen_cores mode;
	int cores_top, cores_rows;
	int columns, cell_width, bar_width; /* bars: bar_width includes the edges */
	int history_width;		    /* bars: width of the history after the figures */
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
	int name_width;	  /* width of a core's number */
	int figure_width; /* width of the figures after a bar */
	int legend_rows;
};

void screen_layout(const struct screen_wants *wants, struct screen_layout *ret_layout);

/*
 * First visible item of @nr items in a view of @room items: item @at is visible, and the view
 * scrolls as little as possible from @first.
 */
size_t screen_scroll(size_t first, size_t at, size_t nr, size_t room);

/* Widths of a core's name and of the figures after its bar. */
int screen_cores_name_width(const struct table *table);
int screen_cores_figure_width(const struct table *table);
/* Draws the legend unless @canvas is NULL. Returns its number of lines. */
int screen_cores_legend(const struct screen *screen, const struct table *table,
			const struct screen_layout *layout, int cols, struct canvas *canvas);
void screen_cores_draw(const struct screen *screen, const struct table *table,
		       const struct screen_layout *layout, struct canvas *canvas);

/* Adds the busy shares of a window to the history. 0 or -ENOMEM. */
int screen_history_add(struct screen_history *history, const struct table *cores);
void screen_history_free(struct screen_history *history);

#define SCREEN_OWN_ORDER (-1)

/* True if a column is shown. @all: also show columns that are only in JSON and CSV. */
bool screen_col_shown(const struct table *table, size_t col, bool all);
/*
 * True if the default sort order of a column is descending: figures descend, names and identifiers
 * ascend.
 */
bool screen_col_descends(const struct table *table, size_t col);

/*
 * Selects the rows whose names contain @filter (case-insensitive), sorted by column @sort or in the
 * report's order. Unavailable values are always last. Equal rows keep the report's order. Returns
 * the number of rows, or -ENOMEM.
 */
long screen_rows(const struct table *table, const char *filter, int sort, bool descending,
		 size_t **ret_rows);

/* Draws the active pane, which has a table, and the panes after it if there is room. */
void screen_panes_draw(struct screen *screen, const struct screen_layout *layout,
		       struct canvas *canvas);

#endif
