/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws one series of a plot: points, lines, bars or outlines of histograms. */
#include "view/svg/svg.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "view/view.h"

static bool cell_equals(const struct value *value, const char *text)
{
	char number[32];

	if (value->kind == VALUE_STR)
		return !strcmp(value->str, text);
	snprintf(number, sizeof(number), "%" PRIu64, value->u64);
	return value->kind == VALUE_U64 && !strcmp(number, text);
}

static bool same_value(const struct value *a, const struct value *b)
{
	if (a->kind != b->kind)
		return false;
	return a->kind == VALUE_STR ? !strcmp(a->str, b->str) : a->u64 == b->u64;
}

size_t svg_values(const struct table *table, int col, size_t *rows, size_t max)
{
	size_t nr = 0;

	for (size_t row = 0; table && col >= 0 && row < table->nr_rows && nr < max; row++) {
		const struct value *value = table_cell(table, row, col);
		bool skip = value->kind == VALUE_STR ? !*value->str : value->kind != VALUE_U64;

		for (size_t i = 0; i < nr && !skip; i++)
			skip = same_value(value, table_cell(table, rows[i], col));
		if (!skip)
			rows[nr++] = row;
	}
	return nr;
}

/* Adds the point of a row, unless a value is missing or cannot be drawn. */
static int add_row(struct svg_trace *trace, const struct svg_plot *plot, const struct table *table,
		   size_t row, const int col[3])
{
	const struct svg_series *s = trace->series;
	struct svg_dot dot = {
		.x = value_number(table_cell(table, row, col[0])),
		.x_end = value_number(table_cell(table, row, col[s->x_end ? 1 : 0])),
		.y = value_number(table_cell(table, row, col[2])) * (s->times > 0.0 ? s->times : 1.0),
	};

	/*
	 * A cumulative count of 0 is valid even on a logarithmic axis, because trace_uncumulate()
	 * later converts cumulative counts to counts per bucket.
	 */
	if (isnan(dot.x) || isnan(dot.x_end) || isnan(dot.y) || (plot->x_log && !(dot.x > 0.0)) ||
	    (plot->y_log && !(dot.y > 0.0) && s->mark != SVG_BARS_LE))
		return 0;
	return array_push(trace->dots, trace->nr, dot);
}

/* Converts cumulative counts to counts per bucket. */
static void trace_uncumulate(const struct svg_plot *plot, struct svg_trace *trace)
{
	double edge = 0.0, below = 0.0;
	size_t nr = 0;

	array_for_each(le, trace->dots, trace->nr) {
		struct svg_dot dot = {.x = edge, .x_end = le->x, .y = le->y - below};

		edge = le->x;
		below = le->y;
		/* On a logarithmic axis the first bucket starts at half of its upper bound. */
		if (plot->x_log && dot.x <= 0.0)
			dot.x = dot.x_end / 2.0;
		if (dot.y > 0.0)
			trace->dots[nr++] = dot;
	}
	trace->nr = nr;
}

/* Label of a curve, such as "real, slack 1 ns", "CPU 0" or "C1". */
static void name_trace(struct svg_trace *trace, const char *label, const struct column *split)
{
	char number[32];

	if (!trace->only || trace->series->first_only) {
		snprintf(trace->label, sizeof(trace->label), "%s", label ?: "");
		return;
	}
	view_format_value(trace->only, split->metric->unit, number, sizeof(number));
	snprintf(trace->label, sizeof(trace->label), "%s%s%s%s%s", label ?: "", label ? ", " : "",
		 trace->only->kind == VALUE_STR ? "" : split->title,
		 trace->only->kind == VALUE_STR ? "" : " ",
		 trace->only->kind == VALUE_STR ? trace->only->str : number);
}

int svg_trace_init(struct svg_trace *trace, const struct svg_plot *plot, struct svg_columns *first,
		   const struct report *report)
{
	const struct svg_series *s = trace->series;
	const struct table *table = report_find(s->from ?: report, s->table);
	int where = s->where ? table_find(table, s->where) : 0, rc = 0;
	int split = trace->only ? table_find(table, s->split) : 0;
	int col[] = {table_find(table, s->x), s->x_end ? table_find(table, s->x_end) : 0,
		     table_find(table, s->y)};

	if (where < 0 || split < 0 || col[0] < 0 || col[1] < 0 || col[2] < 0)
		return -EINVAL;
	if (!first->x)
		*first = (struct svg_columns){&table->cols[col[0]], &table->cols[col[2]]};
	name_trace(trace,
		   s->label
			   ?: trace->only ? NULL
					  : table->cols[col[2]].title,
		   &table->cols[split]);
	for (size_t row = 0; row < table->nr_rows && !rc; row++)
		if ((!s->where || cell_equals(table_cell(table, row, where), s->equals)) &&
		    (!trace->only || same_value(table_cell(table, row, split), trace->only)))
			rc = add_row(trace, plot, table, row, col);
	if (!rc && s->mark == SVG_BARS_LE)
		trace_uncumulate(plot, trace);
	return rc;
}

struct bar {
	double from, to, top, foot; /* edges of the bar in pixels */
};

static struct bar bar_of(const struct svg_trace *trace, const struct svg_dot *dot)
{
	double base = trace->y->log ? trace->y->low : fmax(0.0, trace->y->low);
	struct bar bar = {svg_axis_pixel(trace->x, dot->x), svg_axis_pixel(trace->x, dot->x_end),
			  svg_axis_pixel(trace->y, dot->y), svg_axis_pixel(trace->y, base)};

	/* Widen a thin bar around its centre, because bars narrower than one pixel fade. */
	if (bar.to - bar.from < 1.5) {
		bar.from = (bar.from + bar.to) / 2.0 - 0.75;
		bar.to = bar.from + 1.5;
	}
	return bar;
}

static void draw_bars(const struct svg_trace *trace, FILE *out)
{
	array_for_each(dot, trace->dots, trace->nr) {
		struct bar bar = bar_of(trace, dot);

		fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n",
			bar.from, fmin(bar.top, bar.foot), bar.to - bar.from,
			fabs(bar.foot - bar.top));
	}
}

/* Draws a histogram as an outline, because solid bars would hide other histograms. */
static void draw_outline(const struct svg_trace *trace, FILE *out)
{
	double end = NAN;

	if (!trace->nr)
		return;
	fprintf(out,
		"<path fill-opacity=\"0.12\" stroke=\"%s\" stroke-width=\"1.8\" "
		"stroke-linejoin=\"round\" d=\"",
		trace->color);
	for (size_t i = 0; i < trace->nr; i++) {
		struct bar bar = bar_of(trace, &trace->dots[i]);

		/* After an empty bucket, the histogram continues with a new outline. */
		if (!(fabs(bar.from - end) < 0.01)) {
			if (i)
				fprintf(out, "V%.2f", bar.foot);
			fprintf(out, "M%.2f %.2f", bar.from, bar.foot);
		}
		fprintf(out, "V%.2fH%.2f", bar.top, bar.to);
		if (i + 1 == trace->nr)
			fprintf(out, "V%.2f", bar.foot);
		end = bar.to;
	}
	fputs("\"/>\n", out);
}

static void draw_line(const struct svg_trace *trace, FILE *out)
{
	if (!trace->nr)
		return;
	fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" d=\"", trace->color);
	array_for_each(dot, trace->dots, trace->nr)
		fprintf(out, "%c%.2f %.2f", dot > trace->dots ? 'L' : 'M',
			svg_axis_pixel(trace->x, dot->x), svg_axis_pixel(trace->y, dot->y));
	fputs("\"/>\n", out);
}

void svg_trace_draw(const struct svg_trace *trace, bool shared, FILE *out)
{
	fprintf(out, "<g fill=\"%s\">\n", trace->color);
	if (svg_is_bars(trace->series)) {
		(shared ? draw_outline : draw_bars)(trace, out);
	} else {
		if (trace->series->mark == SVG_LINE)
			draw_line(trace, out);
		array_for_each(dot, trace->dots, trace->nr)
			fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"2.5\"/>\n",
				svg_axis_pixel(trace->x, dot->x), svg_axis_pixel(trace->y, dot->y));
	}
	fputs("</g>\n", out);
}
