/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Formats the cells of a table as text, with widths, alignment and the style of bars. */
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
	STYLE_REVERSE, /* style of the selected row or tab on the live screen */
	STYLE_ALARM,   /* style of losses and errors on the live screen */
	STYLE_NR,
};

/*
 * Style of one part of a bar. Shapes differ for colour-blind people and terminals without colours.
 */
struct bar_style {
	const char *shape;
	const char *ascii; /* character for terminals without UTF-8 */
	enum style style;
};

/* Returns the style of the part for column @col, which must be a column of the table's bar. */
const struct bar_style *bar_style_of(const struct table *table, size_t col);

/*
 * End of the part of column @col, in characters from the start of a bar of @width characters. The
 * sum of the parts up to @col is rounded, so that a full bar has exactly @width characters.
 */
size_t bar_part_end(const struct table *table, size_t row, size_t col, size_t width);

/* SGR escape sequence of a style, or "" for STYLE_PLAIN. */
const char *style_sgr(enum style style);

/* Writes digits without a NUL, faster than printf(). Returns the number of digits. */
static inline size_t put_digits(char *to, uint64_t value)
{
	char digits[20];
	size_t nr = 0;

	do
		digits[nr++] = '0' + value % 10;
	while (value /= 10);
	for (size_t i = 0; i < nr; i++)
		to[i] = digits[nr - 1 - i];
	return nr;
}

#define CELLS_GAP 2 /* number of blanks between two columns */

/* Maximum width of a name on a terminal of @width columns. @width is 0 for a pipe or file. */
size_t cells_name_max(size_t width);
/* True if no row has a value in this column. */
bool cells_blank(const struct table *table, size_t col);
/* True if the column is left-aligned: text and booleans. Numbers are right-aligned. */
bool cells_left(const struct table *table, size_t col);
/* True if the column identifies the row, because it contains text or identifiers. */
bool cells_name(const struct table *table, size_t col);
/* Minimum width of a column for its title and typical numbers, so that the width rarely changes. */
size_t cells_min_width(const struct table *table, size_t col);
/*
 * Text of a cell, cut to @max columns unless @max is 0, or NULL if out of memory. The caller frees
 * the text.
 */
char *cells_text(const struct table *table, size_t row, size_t col, size_t max);

/*
 * Copies @table, with the row of @sum on top if @table has several rows. The copy shares all
 * strings; the caller frees only @ret_table->cells. Returns 0 or -ENOMEM.
 */
int cells_with_sum(const struct table *table, const struct table *sum, struct table *ret_table);

#endif
