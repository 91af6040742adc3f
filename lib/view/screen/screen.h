/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The live screen: state, keys and drawing, without the terminal and without the measurements. */
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
#define SCREEN_KEEP_ROWS  10 /* windows after which a pane with fewer rows becomes smaller */

/* Keys are code points; special keys have numbers above the last code point. */
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

enum screen_action {
	SCREEN_NOTHING,
	SCREEN_REDRAW,
	SCREEN_INTERVAL, /* interval_ns has changed */
	SCREEN_QUIT,
};

/* One measurement: its last report, or the reason why there is none. */
struct screen_slot {
	char *command;
	struct report *report; /* loss counters are deltas of the window */
	struct losses_seen losses;
	char *refused, *fix;
};

/* A table of a report, and the reader's settings for it. */
struct screen_pane {
	size_t slot;
	char *key;  /* of the table, looked up in every report */
	char *sort; /* key of a column; NULL: the report's order */
	bool descending;
	bool all;	  /* also columns that text leaves out */
	bool follow_sort; /* make the sort column visible */
	char filter[SCREEN_FILTER_MAX];
	size_t first_row, first_col;
	/* The most rows of the last windows, since the reader last selected a pane or a filter. */
	size_t rows_had;
	unsigned int fewer; /* consecutive windows with fewer rows than that */
};

#define SCREEN_HISTORY 60 /* windows */

/* Busy shares of the cores in earlier windows, oldest first; NAN if there is none. */
struct screen_history {
	double *busy; /* SCREEN_HISTORY for each CPU number */
	size_t nr_cpus;
};

struct screen {
	struct screen_slot slots[SCREEN_MAX_SLOTS];
	size_t nr_slots;
	struct screen_pane panes[SCREEN_MAX_PANES];
	size_t nr_panes;
	struct screen_pane notes; /* comes after the others */
	size_t active;		  /* nr_panes: the notes */
	size_t home;		  /* slot whose first pane is active until the reader selects one */
	bool chosen;
	bool paused, help, editing, ascii;
	char draft[SCREEN_FILTER_MAX]; /* the filter while it is typed */
	struct screen_history history;
	uint64_t interval_ns;
	size_t page; /* visible rows of the table when it was last drawn */
};

void screen_init(struct screen *screen, uint64_t interval_ns);
void screen_free(struct screen *screen);

/* Adds a slot for the reports of @command; -1 if there are too many or no memory. */
int screen_add(struct screen *screen, const char *command);
/* Owns @report from here on, and frees the previous one. 0 or -ENOMEM. */
int screen_show(struct screen *screen, size_t slot, struct report *report);
/* Shows @why instead of the figures, and drops the figures shown so far. */
int screen_refuse(struct screen *screen, size_t slot, const struct err *err);

/* The active pane, and its table in the last report; NULL for the notes or if there is none. */
struct screen_pane *screen_active(struct screen *screen);
const struct table *screen_table(const struct screen *screen, const struct screen_pane *pane);
/* The first table that is drawn as bars, or NULL. */
const struct table *screen_cores(const struct screen *screen, const struct report **ret_report);

enum screen_action screen_key(struct screen *screen, int key);

/* Draws onto a blank canvas of any size; corrects scroll positions. */
int screen_draw(struct screen *screen, struct canvas *canvas);

#endif
