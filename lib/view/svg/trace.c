/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converts the cells of a series to the numbers that are drawn. */
#include "view/svg/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static bool cell_reads(const struct value *value, const char *text)
{
	char number[32];

	if (value->kind == VALUE_STR)
		return !strcmp(value->str, text);
	snprintf(number, sizeof(number), "%" PRIu64, value->u64);
	return value->kind == VALUE_U64 && !strcmp(number, text);
}

static int trace_add(struct svg_trace *trace, struct svg_dot dot)
{
	struct svg_dot *dots = grow(trace->dots, trace->nr, sizeof(*dots));

	if (!dots)
		return -ENOMEM;
	trace->dots = dots;
	trace->dots[trace->nr++] = dot;
	return 0;
}

/* Computes the point of one row. False if the row is not drawn. */
static bool row_dot(const struct svg_plot *plot, const struct svg_series *s,
		    const struct table *table, size_t row, const int col[3],
		    struct svg_dot *ret_dot)
{
	struct svg_dot dot = {
		.x = value_number(table_cell(table, row, col[0])),
		.x_end = value_number(table_cell(table, row, col[s->x_end ? 1 : 0])),
		.y = value_number(table_cell(table, row, col[2])),
	};

	if (isnan(dot.x) || isnan(dot.x_end) || isnan(dot.y))
		return false;
	if (s->times > 0.0)
		dot.y *= s->times;
	/* A cumulative count is checked later, after the previous count was subtracted. */
	if ((plot->x_log && !(dot.x > 0.0)) ||
	    (plot->y_log && !(dot.y > 0.0) && s->mark != SVG_BARS_LE))
		return false;
	*ret_dot = dot;
	return true;
}

/* Converts cumulative counts to counts per bucket. */
static void trace_uncumulate(const struct svg_plot *plot, struct svg_trace *trace)
{
	double edge = 0.0, below = 0.0;
	size_t nr = 0;

	for (size_t i = 0; i < trace->nr; i++) {
		struct svg_dot dot = {
			.x = edge, .x_end = trace->dots[i].x, .y = trace->dots[i].y - below};

		edge = trace->dots[i].x;
		below = trace->dots[i].y;
		/* On a logarithmic axis the first bucket starts at half of its upper bound. */
		if (plot->x_log && dot.x <= 0.0)
			dot.x = dot.x_end / 2.0;
		if (dot.y > 0.0)
			trace->dots[nr++] = dot;
	}
	trace->nr = nr;
}

int svg_trace_init(struct svg_trace *trace, const struct svg_plot *plot, struct svg_columns *first,
		   const struct report *report)
{
	const struct svg_series *s = trace->series;
	const struct table *table = report_find(s->from ?: report, s->table);
	int where, rc = 0, col[3];
	struct svg_dot dot;

	if (!table)
		return -EINVAL;
	where = s->where ? table_find(table, s->where) : 0;
	col[0] = table_find(table, s->x);
	col[1] = s->x_end ? table_find(table, s->x_end) : 0;
	col[2] = table_find(table, s->y);
	if (where < 0 || col[0] < 0 || col[1] < 0 || col[2] < 0)
		return -EINVAL;
	if (!first->x)
		*first = (struct svg_columns){&table->cols[col[0]], &table->cols[col[2]]};
	if (!trace->label)
		trace->label = table->cols[col[2]].title;
	for (size_t row = 0; row < table->nr_rows && !rc; row++)
		if ((!s->where || cell_reads(table_cell(table, row, where), s->equals)) &&
		    row_dot(plot, s, table, row, col, &dot))
			rc = trace_add(trace, dot);
	if (!rc && s->mark == SVG_BARS_LE)
		trace_uncumulate(plot, trace);
	return rc;
}
