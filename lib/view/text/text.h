/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the text view share. */
#ifndef SUBTICK_VIEW_TEXT_H
#define SUBTICK_VIEW_TEXT_H

#include "view/view.h"

#define TEXT_HASH_START 0xcbf29ce484222325ULL
#define TEXT_BAR_MIN	24 /* columns, edges included */
#define TEXT_BAR_MAX	62

/* SGR codes; "" stands for no colour. */
#define SGR_RESET  "\033[0m"
#define SGR_BOLD   "\033[1m"
#define SGR_DIM	   "\033[2m"
#define SGR_RED	   "\033[31m"
#define SGR_GREEN  "\033[32m"
#define SGR_YELLOW "\033[33m"

/* @text on its own, coloured if the view is. */
void text_put(const struct view *view, const char *sgr, const char *text);
/* Breaks @text at blanks; continuation lines start after @indent columns; ends the line. */
void text_wrap(const struct view *view, const char *text, size_t indent);
uint64_t text_hash(uint64_t hash, const char *text);
/* Counts of what was lost get a line of their own, and only when there are any. */
bool text_is_loss(const struct column *col, const struct value *value);
bool text_is_zero(const struct value *value);

/* A table laid out: the cells as text, their widths, and which line each column goes to. */
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
	char **cells; /* nr_rows × nr_cols; NULL where text shows nothing */
	struct grid_item *items;
	size_t nr_items;
	size_t nr_keys; /* leading items that name the row: in every block */
	size_t nr_blocks;
	size_t sentence, fix; /* columns of prose, GRID_NONE without */
};

int grid_init(struct grid *grid, const struct view *view, const struct table *table);
void grid_free(struct grid *grid);
void grid_print(const struct grid *grid, struct view *view, bool heading);
/* Changes when a heading printed before no longer fits the rows. */
uint64_t grid_hash(const struct grid *grid, uint64_t hash);

void text_bar(const struct view *view, const struct table *table, size_t row, size_t width);
void text_bar_legend(struct view *view, const struct table *table);

/* Whether a table is a histogram, le_ns and count, and printing it. */
bool text_is_hist(const struct table *table);
void text_hist(const struct view *view, const struct table *table);

#endif
