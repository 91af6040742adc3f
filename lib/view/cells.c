/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Formats cells, and chooses shape and colour of the parts of a bar. */
#include "view/cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/utf8.h"
#include "view/view.h"

static const struct {
	enum metric_id id;
	struct bar_style look;
} known[] = {
	{M_TASK_RATIO, {"█", "#", STYLE_GREEN}},
	{M_HARDIRQ_RATIO, {"▓", "%", STYLE_RED}},
	{M_SOFTIRQ_ON_IDLE_RATIO, {"▒", "=", STYLE_YELLOW}},
	{M_SOFTIRQ_ON_TASK_RATIO, {"░", "-", STYLE_MAGENTA}},
	{M_KSOFTIRQD_RATIO, {"k", "k", STYLE_BLUE}},
	{M_IDLE_LOOP_RATIO, {"~", "~", STYLE_CYAN}},
	{M_POLL_IDLE_RATIO, {"o", "o", STYLE_CYAN}},
	{M_IDLE_RATIO, {"·", ".", STYLE_DIM}},
	{M_STEAL_RATIO, {"x", "x", STYLE_BRIGHT_RED}},
	{M_UNKNOWN_RATIO, {"?", "?", STYLE_BRIGHT_MAGENTA}},
};

struct bar_style bar_style_of(const struct table *table, size_t col, char letter[2])
{
	static const enum style styles[] = {STYLE_GREEN,   STYLE_RED,  STYLE_YELLOW,
					    STYLE_MAGENTA, STYLE_BLUE, STYLE_CYAN};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (table->cols[col].metric == metric_get(known[i].id))
			return known[i].look;
	letter[0] = 'A' + (col - table->bar_first) % 26;
	letter[1] = '\0';
	return (struct bar_style){letter, letter, styles[(col - table->bar_first) % 6]};
}

const char *style_sgr(enum style style)
{
	static const char *const sgr[STYLE_NR] = {
		[STYLE_PLAIN] = "",
		[STYLE_BOLD] = "\033[1m",
		[STYLE_DIM] = "\033[2m",
		[STYLE_RED] = "\033[31m",
		[STYLE_GREEN] = "\033[32m",
		[STYLE_YELLOW] = "\033[33m",
		[STYLE_BLUE] = "\033[34m",
		[STYLE_MAGENTA] = "\033[35m",
		[STYLE_CYAN] = "\033[36m",
		[STYLE_BRIGHT_RED] = "\033[91m",
		[STYLE_BRIGHT_MAGENTA] = "\033[95m",
		[STYLE_REVERSE] = "\033[7m",
		[STYLE_ALARM] = "\033[1;31m",
	};

	return sgr[style];
}

#define NAME_MIN 16 /* minimum width of a name column */
#define NAME_NO_TERMINAL 96 /* maximum width of a name in a pipe or file */

static enum unit unit_of(const struct table *table, size_t col)
{
	return table->cols[col].metric->unit;
}

size_t cells_name_max(size_t width)
{
	if (!width)
		return NAME_NO_TERMINAL;
	return width / 3 < NAME_MIN ? NAME_MIN : width / 3;
}

bool cells_blank(const struct table *table, size_t col)
{
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct value *value = table_cell(table, row, col);

		if (value->kind != VALUE_STR || *value->str)
			return false;
	}
	return table->nr_rows > 0;
}

bool cells_left(const struct table *table, size_t col)
{
	return unit_of(table, col) == UNIT_TEXT || unit_of(table, col) == UNIT_BOOL;
}

bool cells_name(const struct table *table, size_t col)
{
	return unit_of(table, col) == UNIT_TEXT || unit_of(table, col) == UNIT_ID;
}

size_t cells_min_width(const struct table *table, size_t col)
{
	size_t title = utf8_width(table->cols[col].title);
	size_t figure = unit_of(table, col) == UNIT_RATIO ? strlen("100.0%")
			: unit_of(table, col) == UNIT_NS  ? strlen("1.23 ms")
							  : 1;

	return title > figure ? title : figure;
}

char *cells_text(const struct table *table, size_t row, size_t col, size_t max)
{
	const struct value *value = table_cell(table, row, col);
	char number[64];

	if (value->kind == VALUE_STR)
		return utf8_printable_path(value->str, max);
	view_format_value(value, unit_of(table, col), number, sizeof(number));
	return strdup(number);
}

/*
 * True if @sum is a sum row with the same columns as @table. A report from a file may have other
 * columns.
 */
static bool sums_up(const struct table *sum, const struct table *table)
{
	if (!sum || !sum->sum || sum->nr_rows != 1 || sum->nr_cols != table->nr_cols ||
	    table->nr_rows < 2)
		return false;
	for (size_t col = 0; col < table->nr_cols; col++)
		if (strcmp(sum->cols[col].key, table->cols[col].key))
			return false;
	return true;
}

int cells_with_sum(const struct table *table, const struct table *sum, struct table *ret_table)
{
	bool on_top = sums_up(sum, table);
	size_t nr = (table->nr_rows + on_top) * table->nr_cols;
	struct value *cells = calloc(nr + 1, sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	if (on_top)
		memcpy(cells, sum->cells, table->nr_cols * sizeof(*cells));
	if (table->nr_rows)
		memcpy(cells + on_top * table->nr_cols, table->cells,
		       table->nr_rows * table->nr_cols * sizeof(*cells));
	*ret_table = *table;
	ret_table->cells = cells;
	ret_table->nr_rows += on_top;
	return 0;
}
