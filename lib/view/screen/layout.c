/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Divides the screen between CPUs and tables, and sorts and filters rows. */
#include "view/screen/screen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "view/view.h"

/* minimum width of a bar in characters, including its edges; a character is 10 % of load */
#define BAR_MIN	    12
/* width of a long bar in characters, including its edges; a character is 2 % of load */
#define BAR_LONG    52
#define HISTORY_MIN 16
#define TABLE_MIN   6 /* minimum number of table rows on the screen */
#define GAP	    2
/* number of lines for header, finding, advice, losses, tabs, information, heading and footer */
#define FIXED	    8

static size_t div_up(size_t a, size_t b)
{
	return (a + b - 1) / b;
}

/*
 * Lays out the CPUs as bars, in as few columns as the height allows, because long bars are more
 * precise. Returns false if the bars do not fit.
 */
static bool fit_bars(const struct screen_wants *wants, int room, struct screen_layout *layout)
{
	int least = wants->name_width + 1 + BAR_MIN + 1 + wants->figure_width;
	int most = (wants->cols + GAP) / (least + GAP), columns;

	if (room < 1 || most < 1)
		return false;
	columns = div_up(wants->nr_cores, room);
	if (columns > most)
		return false;
	layout->mode = SCREEN_CORES_BARS;
	layout->columns = columns;
	layout->cell_width = (wants->cols + GAP) / columns - GAP;
	layout->bar_width = layout->cell_width - (least - BAR_MIN);
	/* Screen width beyond a long bar is used for the CPU's history. */
	if (layout->bar_width >= BAR_LONG + HISTORY_MIN + 1) {
		layout->history_width = layout->bar_width - BAR_LONG - 1;
		if (layout->history_width > SCREEN_HISTORY)
			layout->history_width = SCREEN_HISTORY;
		layout->bar_width -= layout->history_width + 1;
	}
	layout->cores_rows = div_up(wants->nr_cores, columns);
	return true;
}

/*
 * Lays out the CPUs as lines such as "123-186 […]". The number of CPUs in a line is a power of two.
 */
static void fit_map(const struct screen_wants *wants, int room, struct screen_layout *layout)
{
	int label = 2 * wants->name_width + 1 + 1, per_row = 8;

	while (label + 2 + per_row * 2 <= wants->cols)
		per_row *= 2;
	layout->mode = SCREEN_CORES_MAP;
	layout->per_row = per_row;
	layout->group = 1;
	while (div_up(wants->nr_cores, layout->group * per_row) > (size_t)room)
		layout->group *= 2;
	layout->cores_rows = div_up(wants->nr_cores, layout->group * per_row);
}

void screen_layout(const struct screen_wants *wants, struct screen_layout *ret_layout)
{
	struct screen_layout layout = {.group = 1,
				       .legend_rows = wants->legend_rows,
				       .name_width = wants->name_width,
				       .figure_width = wants->figure_width};
	int row = 1, room;

	if (wants->rows < SCREEN_MIN_ROWS || wants->cols < SCREEN_MIN_COLS) {
		*ret_layout = (struct screen_layout){.too_small = true};
		return;
	}
	if (!wants->nr_cores)
		layout.legend_rows = 0;
	room = wants->rows - FIXED - layout.legend_rows - TABLE_MIN;
	if (wants->nr_cores && !fit_bars(wants, room, &layout))
		fit_map(wants, room, &layout);
	layout.cores_top = row;
	row += layout.cores_rows;
	layout.legend_top = row;
	row += layout.legend_rows;
	layout.finding_row = row;
	row += 2; /* one line for the finding, and one line for the advice */
	layout.loss_row = row++;
	layout.tabs_row = row++;
	layout.info_row = row;
	layout.footer_row = wants->rows - 1;
	layout.table_rows = layout.footer_row - row - SCREEN_PANE_HEAD;
	*ret_layout = layout;
}

size_t screen_scroll(size_t first, size_t at, size_t nr, size_t room)
{
	if (nr <= room)
		return 0;
	if (first > nr - room)
		first = nr - room;
	if (at >= nr)
		at = nr - 1;
	if (at < first)
		return at;
	return at >= first + room && room ? at - room + 1 : first;
}

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
		/* An identifier must be equal to the filter: "1" does not match CPU 10. */
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
	/* Integers above 2^53 can round to the same double. */
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
