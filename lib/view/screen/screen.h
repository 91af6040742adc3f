/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State, keys and drawing of the live screen, independent of terminal and measurements. */
#ifndef SUBTICK_VIEW_SCREEN_H
#define SUBTICK_VIEW_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "report/report.h"
#include "view/screen/canvas.h"
#include "view/view.h"

#define SCREEN_MAX_SLOTS  8
#define SCREEN_MAX_PANES  32
#define SCREEN_FILTER_MAX 64
/* number of successive windows with fewer rows after which a pane shrinks */
#define SCREEN_KEEP_ROWS  10

/* Keys are Unicode code points. Special keys have numbers above the last code point. */
enum {
	SCREEN_KEY_NONE = 0,
	SCREEN_KEY_UP = 0x110000,
	SCREEN_KEY_DOWN,
	SCREEN_KEY_LEFT,
	SCREEN_KEY_RIGHT,
	SCREEN_KEY_PAGE_UP,
	SCREEN_KEY_PAGE_DOWN,
	SCREEN_KEY_HOME,
	SCREEN_KEY_END,
	SCREEN_KEY_BACK_TAB,
	SCREEN_KEY_BACKSPACE,
};

/* A measurement, with its last report or the reason why the measurement failed. */
struct screen_slot {
	const char *command;
	/* last report; its loss counters contain only the losses in the last window */
	struct report *report;
	struct losses_seen losses;
	struct err refused; /* code 0 if the measurement did not fail */
};

/* A table of a report, and the columns, sort order and filter that the user has chosen for it. */
struct screen_pane {
	size_t slot;
	char key[64];  /* key of the table in the report, or "" for the notes */
	char sort[64]; /* key of the sort column, or "" for the order of the report */
	bool descending;
	bool all;	  /* show also the columns that text output omits */
	bool follow_sort; /* at the next drawing, scroll so that the sort column is visible */
	char filter[SCREEN_FILTER_MAX];
	size_t first_row, first_col;
	/* maximum number of rows in recent windows; reset to 0 when a pane or filter is selected */
	size_t rows_had;
	unsigned int fewer; /* number of successive windows with fewer rows than rows_had */
};

#define SCREEN_HISTORY 60 /* number of windows in the history of busy ratios */

/* Busy ratios of the CPUs in earlier windows, oldest first. Unknown ratios are NAN. */
struct screen_history {
	double *busy; /* SCREEN_HISTORY busy ratios per CPU number */
	size_t nr_cpus;
};

struct screen {
	struct screen_slot slots[SCREEN_MAX_SLOTS];
	size_t nr_slots;
	struct screen_pane panes[SCREEN_MAX_PANES];
	size_t nr_panes;
	struct screen_pane notes; /* the notes, shown after all other panes */
	size_t active;		  /* index of the active pane; nr_panes for the notes */
	/* slot whose first pane is active until the user selects a pane */
	size_t home;
	bool chosen;
	bool paused, help, editing, ascii;
	char draft[SCREEN_FILTER_MAX]; /* text of the filter while the user types it */
	struct screen_history history;
	uint64_t interval_ns;
	size_t page; /* number of visible rows of the table at the last drawing */
};

void screen_free(struct screen *screen);

/*
 * Adds a slot, which stores the last report of @command, and returns its index. At most
 * SCREEN_MAX_SLOTS slots can be added. @command must outlive the screen.
 */
size_t screen_add(struct screen *screen, const char *command);
/* Shows @report, which the screen then owns, in slot @slot. Returns 0 or -ENOMEM. */
int screen_show(struct screen *screen, size_t slot, struct report *report);
/* Shows @err instead of a report in slot @slot, and frees the last report of slot @slot. */
void screen_refuse(struct screen *screen, size_t slot, const struct err *err);

/*
 * screen_table() returns the table of @pane in the last report, or NULL for the notes or if the
 * table is missing.
 */
struct screen_pane *screen_active(struct screen *screen);
const struct table *screen_table(const struct screen *screen, const struct screen_pane *pane);
/* First table that is drawn as bars, or NULL if no report has such a table. */
const struct table *screen_cores(const struct screen *screen, const struct report **ret_report);

/* Handles a key. Returns true if the user quits. */
bool screen_key(struct screen *screen, int key);

/* Draws the screen onto a blank canvas of any size. Corrects scroll positions. */
int screen_draw(struct screen *screen, struct canvas *canvas);

#define SCREEN_MIN_ROWS 24
#define SCREEN_MIN_COLS 80
/* number of lines above the rows of a pane: information line and heading */
#define SCREEN_PANE_HEAD 2

enum screen_cores {
	SCREEN_CORES_NONE,
	SCREEN_CORES_BARS, /* one bar per core, in columns */
	SCREEN_CORES_MAP,  /* one character per core or per group of cores */
};

struct screen_layout {
	bool too_small;
	enum screen_cores mode;
	int cores_top, cores_rows;
	/* SCREEN_CORES_BARS: columns, characters per column, characters per bar with its edges */
	int columns, cell_width, bar_width;
	int name_width, figure_width; /* copied from struct screen_wants */
	int history_width; /* SCREEN_CORES_BARS: width of a CPU's history after its busy ratio */
	int per_row;	   /* SCREEN_CORES_MAP: number of characters per line */
	size_t group;	   /* SCREEN_CORES_MAP: number of cores per character */
	int legend_top, legend_rows;
	int finding_row, loss_row, tabs_row;
	int info_row; /* first screen line of the panes */
	int table_rows;
	int footer_row;
};

struct screen_wants {
	int rows, cols;
	size_t nr_cores;
	int name_width;	  /* width of a core's number */
	int figure_width; /* width of the busy ratios after a bar */
	int legend_rows;
};

void screen_layout(const struct screen_wants *wants, struct screen_layout *ret_layout);

/* Returns the scroll position nearest to @first that shows item @at of @nr items on @room lines. */
size_t screen_scroll(size_t first, size_t at, size_t nr, size_t room);

/* Widths of a CPU number before a bar, and of the busy ratios after a bar. */
int screen_cores_name_width(const struct table *table);
int screen_cores_figure_width(const struct table *table);
/* Draws the legend of the bars unless @canvas is NULL. Returns the number of legend lines. */
int screen_cores_legend(const struct screen *screen, const struct table *table,
			const struct screen_layout *layout, int cols, struct canvas *canvas);
void screen_cores_draw(const struct screen *screen, const struct table *table,
		       const struct screen_layout *layout, struct canvas *canvas);

/* Adds the busy ratios of a window to the history. Returns 0 or -ENOMEM. */
int screen_history_add(struct screen_history *history, const struct table *cores);
void screen_history_free(struct screen_history *history);

/* True if a pane shows the column. With @all, panes also show columns that text output omits. */
bool screen_col_shown(const struct table *table, size_t col, bool all);
/* True if the default order is descending: for numbers, but not for names and identifiers. */
bool screen_col_descends(const struct table *table, size_t col);

/*
 * Selects the rows whose names contain @filter (case-insensitive), sorted by column @sort, or in
 * the order of the report if @sort is negative. Unavailable values come last. The sort is stable.
 * Returns the number of rows, or -ENOMEM.
 */
long screen_rows(const struct table *table, const char *filter, int sort, bool descending,
		 size_t **ret_rows);

/* Draws the active pane, which must have a table, and following panes if the screen has room. */
void screen_panes_draw(struct screen *screen, const struct screen_layout *layout,
		       struct canvas *canvas);

#endif
