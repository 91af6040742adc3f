/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sorts and filters row numbers; the report itself stays unchanged. */
#include "view/screen/draw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cmp.h"
#include "view/view.h"

struct order {
	const struct table *table;
	int col;
	bool descending;
};

bool screen_col_shown(const struct table *table, size_t col, bool all)
{
	const struct column *column = &table->cols[col];

	return column->metric->unit != UNIT_TABLE && (all || !column->data_only);
}

bool screen_col_descends(const struct table *table, size_t col)
{
	enum unit unit = table->cols[col].metric->unit;

	return unit != UNIT_TEXT && unit != UNIT_ID;
}

static bool matches(const struct table *table, size_t row, const char *filter)
{
	if (!*filter)
		return true;
	for (size_t col = 0; col < table->nr_cols; col++) {
		const struct value *value = table_cell(table, row, col);
		char number[64];

		if (value->kind == VALUE_STR && strcasestr(value->str, filter))
			return true;
		if (table->cols[col].metric->unit != UNIT_ID || value->kind != VALUE_U64)
			continue;
		/* An identifier must match as a whole: "1" does not match CPU 10. */
		view_format_value(value, UNIT_ID, number, sizeof(number));
		if (!strcmp(number, filter))
			return true;
	}
	return false;
}

static bool is_absent(const struct value *value)
{
	return value->kind == VALUE_NULL || value->kind == VALUE_TABLE;
}

static double number_of(const struct value *value)
{
	if (value->kind == VALUE_BOOL)
		return value->flag;
	return value->kind == VALUE_F64 ? value->f64 : (double)value->u64;
}

static int value_compare(const struct value *a, const struct value *b)
{
	if (a->kind == VALUE_STR || b->kind == VALUE_STR)
		return a->kind == b->kind ? strcmp(a->str, b->str)
					  : (a->kind == VALUE_STR) - (b->kind == VALUE_STR);
	/* Compare as integers: beyond 2^53 different integers can be the same double. */
	if (a->kind == VALUE_U64 && b->kind == VALUE_U64)
		return CMP(a->u64, b->u64);
	return CMP(number_of(a), number_of(b));
}

static int row_compare(const void *left, const void *right, void *arg)
{
	const struct order *order = arg;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	const struct value *va = table_cell(order->table, a, order->col);
	const struct value *vb = table_cell(order->table, b, order->col);
	int way;

	if (is_absent(va) || is_absent(vb))
		way = is_absent(va) - is_absent(vb);
	else
		way = order->descending ? value_compare(vb, va) : value_compare(va, vb);
	return way ?: CMP(a, b);
}

long screen_rows(const struct table *table, const char *filter, int sort, bool descending,
		 size_t **ret_rows)
{
	struct order order = {table, sort, descending};
	size_t *rows = calloc(table->nr_rows + 1, sizeof(*rows)), nr = 0;

	if (!rows)
		return -ENOMEM;
	for (size_t row = 0; row < table->nr_rows; row++)
		if (matches(table, row, filter))
			rows[nr++] = row;
	if (sort >= 0 && (size_t)sort < table->nr_cols)
		qsort_r(rows, nr, sizeof(*rows), row_compare, &order);
	*ret_rows = rows;
	return nr;
}
