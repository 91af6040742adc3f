/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The layout of a table on a terminal: widths, blocks of columns, headings. */
#ifndef SUBTICK_VIEW_TEXT_TABLE_H
#define SUBTICK_VIEW_TEXT_TABLE_H

#include "view/view.h"

/* The layout: the cells as text, their widths, and the block of each column. */
struct grid_item {
	size_t col; /* GRID_BAR for the bar */
	size_t width;
	size_t block; /* a table too wide for the terminal is folded into blocks of columns */
	bool left;
};

#define GRID_BAR  SIZE_MAX
#define GRID_NONE (SIZE_MAX - 1)

struct grid {
	const struct table *table;
	char **cells; /* nr_rows × nr_cols; NULL if the text view shows nothing */
	struct grid_item *items;
	size_t nr_items;
	size_t nr_keys; /* leading items that name the row; they are in every block */
	size_t nr_blocks;
	size_t sentence, fix; /* columns of prose, or GRID_NONE */
	size_t parts;	      /* column that replaces all parts of a sum, or GRID_NONE */
};

int grid_init(struct grid *grid, const struct view *view, const struct table *table);
void grid_free(struct grid *grid);
void grid_print(const struct grid *grid, struct view *view, bool heading);
/* Hash of the columns: a change means that the heading must be printed again. */
uint64_t grid_hash(const struct grid *grid, uint64_t hash);
/*
 * Makes the columns at least as wide as in the previous table, so that rows stay below their heading,
 * if the terminal is wide enough. False if a column became wider: print the heading again.
 */
bool grid_keep_widths(struct grid *grid, const struct view *view, unsigned short *widths,
		      size_t max);

#endif
