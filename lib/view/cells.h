/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cells of a table as text: widths, alignment, and the look of the parts of a bar. */
#ifndef SUBTICK_VIEW_CELLS_H
#define SUBTICK_VIEW_CELLS_H

#include <stddef.h>

#include "report/report.h"

enum style {
	STYLE_PLAIN,
	STYLE_BOLD,
	STYLE_DIM,
	STYLE_RED,
	STYLE_GREEN,
	STYLE_YELLOW,
	STYLE_BLUE,
	STYLE_MAGENTA,
	STYLE_CYAN,
	STYLE_BRIGHT_RED,
	STYLE_BRIGHT_MAGENTA,
	STYLE_REVERSE, /* live screen only: the selection */
	STYLE_ALARM,   /* live screen only: losses and errors */
	STYLE_NR,
};

/* Parts differ in shape and in colour, for colour-blind people and terminals without colours. */
struct bar_style {
	const char *shape;
	const char *ascii; /* for terminals without UTF-8 */
	enum style style;
};

/* A column without a look of its own gets a letter, by its order, which is written to @letter. */
struct bar_style bar_style_of(const struct table *table, size_t col, char letter[2]);

/* The escape sequence that begins @style; "" for STYLE_PLAIN. */
const char *style_sgr(enum style style);

#define CELLS_GAP 2 /* blanks between two columns */

/* How wide a name may be on a terminal of @width columns, 0: in a pipe or file. */
size_t cells_name_max(size_t width);
/* Whether the column is empty in every row, such as flags if there are none. */
bool cells_blank(const struct table *table, size_t col);
/* Words are aligned to the left, figures to the right. */
bool cells_left(const struct table *table, size_t col);
/* Whether the column can name the row. */
bool cells_name(const struct table *table, size_t col);
/* Wide enough for the title, and for the figures of the next window. */
size_t cells_min_width(const struct table *table, size_t col);
/* To be freed; NULL without memory. Text is cut at @max columns; 0: not. */
char *cells_text(const struct table *table, size_t row, size_t col, size_t max);

/*
 * @table, and on top of its rows the row of @sum, if that is a sum of more than one row: shares the
 * strings of both; only @ret_table->cells is to be freed. 0 or -ENOMEM.
 */
int cells_with_sum(const struct table *table, const struct table *sum, struct table *ret_table);

#endif
