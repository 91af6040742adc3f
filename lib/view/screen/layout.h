/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which line of the live screen shows what: arithmetic only. */
#ifndef SUBTICK_VIEW_SCREEN_LAYOUT_H
#define SUBTICK_VIEW_SCREEN_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#define SCREEN_MIN_ROWS 24
#define SCREEN_MIN_COLS 80

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
	int finding_row, loss_row, tabs_row, info_row, heading_row;
	int table_top, table_rows;
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

#endif
