/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cells of a table as people see them. */
#include "view/cells.h"

#include <string.h>

#include "view/utf8.h"
#include "view/view.h"

#define NAME_MIN 16 /* least width of a name, on any terminal */

static enum unit unit_of(const struct table *table, size_t col)
{
	return table->cols[col].metric->unit;
}

size_t cells_name_max(size_t width)
{
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
		return utf8_printable(value->str, max);
	view_format_value(value, unit_of(table, col), number, sizeof(number));
	return strdup(number);
}
