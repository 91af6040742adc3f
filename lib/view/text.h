/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of the text view: colours, line breaks, bars and the layout of tables. */
#ifndef SUBTICK_VIEW_TEXT_H
#define SUBTICK_VIEW_TEXT_H

#include "base/array.h"
#include "view/cells.h"
#include "view/view.h"

/* Prints @text, with the escape sequences of @style if the view uses colours. */
void text_put(const struct view *view, enum style style, const char *text);
/* Prints @text and a newline, wrapped at blanks. Continuation lines are indented by @indent. */
void text_wrap(const struct view *view, const char *text, size_t indent);
uint64_t text_hash(uint64_t hash, const char *text);
/* True if the column is a loss counter. */
bool text_is_loss(const struct column *col, const struct value *value);
bool text_is_zero(const struct value *value);
/*
 * Increase of a loss counter since the previous report. Returns the whole counter in the first
 * report, after a reset, or if @seen is full.
 */
uint64_t text_lost_now(struct losses_seen *seen, const struct column *col,
		       const struct value *value);

#define TEXT_BAR_MIN 24 /* minimum width of a bar, including its edges */
#define TEXT_BAR_MAX 62

void text_bar(const struct view *view, const struct table *table, size_t row, size_t width);
void text_bar_legend(struct view *view, const struct table *table);

/* True if a table is a histogram: its columns are le_ns and count. */
bool text_is_hist(const struct table *table);
void text_hist(const struct view *view, const struct table *table);

/* One printed column of a table. */
struct grid_item {
	size_t col; /* column number in the table, or GRID_BAR for the bar */
	size_t width;
	/* index of the block with this column; a table that is too wide has several blocks */
	size_t block;
	bool left;
};

#define GRID_BAR  SIZE_MAX
#define GRID_NONE (SIZE_MAX - 1)

/* Layout of a table on the terminal. */
struct grid {
	const struct table *table;
	char **cells; /* nr_rows × nr_cols texts of cells; NULL: cell is not shown */
	struct grid_item *items;
	size_t nr_items;
	/* number of leading columns that identify the row; repeated in every block */
	size_t nr_keys;
	size_t nr_blocks;
	/* index of the column with a sentence, and of the column with the fix, or GRID_NONE */
	size_t sentence, fix;
	/* index of the column that lists the largest parts of a sum, or GRID_NONE */
	size_t parts;
};

int grid_init(struct grid *grid, const struct view *view, const struct table *table);
void grid_free(struct grid *grid);
void grid_print(const struct grid *grid, struct view *view, bool heading);
/* Hash of the columns of a table. The view prints a new heading if this hash changes. */
uint64_t grid_hash(const struct grid *grid, uint64_t hash);
/*
 * Keeps each column at least as wide as in the previous table, if the terminal is wide enough.
 * Returns false if a column became wider, so that the heading must be printed again.
 */
bool grid_keep_widths(struct grid *grid, struct view *view);

#endif
