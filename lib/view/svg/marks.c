/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws one series: points, lines, bars or outlines of histograms. */
#include "view/svg/trace.h"

#include <math.h>

bool svg_is_bars(const struct svg_series *series)
{
	return series->mark == SVG_BARS || series->mark == SVG_BARS_LE;
}

struct bar {
	double from, to, top, foot; /* pixels */
};

static struct bar bar_of(const struct svg_place *place, const struct svg_dot *dot)
{
	double base = place->y->log ? place->y->low : fmax(0.0, place->y->low);
	struct bar bar = {svg_axis_pixel(place->x, dot->x), svg_axis_pixel(place->x, dot->x_end),
			  svg_axis_pixel(place->y, dot->y), svg_axis_pixel(place->y, base)};

	/* Widen a thin bar around its centre, because bars below one pixel fade. */
	if (bar.to - bar.from < 1.5) {
		bar.from = (bar.from + bar.to) / 2.0 - 0.75;
		bar.to = bar.from + 1.5;
	}
	return bar;
}

static void draw_bars(const struct svg_trace *trace, const struct svg_place *place, FILE *out)
{
	for (size_t i = 0; i < trace->nr; i++) {
		struct bar bar = bar_of(place, &trace->dots[i]);

		fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n",
			bar.from, fmin(bar.top, bar.foot), bar.to - bar.from,
			fabs(bar.foot - bar.top));
	}
}

/*
 * Draws a histogram as an outline. In a plot with several histograms, solid bars would hide each
 * other.
 */
static void draw_outline(const struct svg_trace *trace, const struct svg_place *place, FILE *out)
{
	double end = NAN;

	if (!trace->nr)
		return;
	fprintf(out,
		"<path fill-opacity=\"0.12\" stroke=\"%s\" stroke-width=\"1.8\" "
		"stroke-linejoin=\"round\" d=\"",
		place->color);
	for (size_t i = 0; i < trace->nr; i++) {
		struct bar bar = bar_of(place, &trace->dots[i]);

		/* An empty bucket ends the outline. The next bucket starts a new outline. */
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

static void draw_line(const struct svg_trace *trace, const struct svg_place *place, FILE *out)
{
	if (!trace->nr)
		return;
	fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" d=\"", place->color);
	for (size_t i = 0; i < trace->nr; i++)
		fprintf(out, "%c%.2f %.2f", i ? 'L' : 'M',
			svg_axis_pixel(place->x, trace->dots[i].x),
			svg_axis_pixel(place->y, trace->dots[i].y));
	fputs("\"/>\n", out);
}

static void draw_points(const struct svg_trace *trace, const struct svg_place *place, FILE *out)
{
	for (size_t i = 0; i < trace->nr; i++)
		fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"2.5\"/>\n",
			svg_axis_pixel(place->x, trace->dots[i].x),
			svg_axis_pixel(place->y, trace->dots[i].y));
}

void svg_trace_draw(const struct svg_trace *trace, const struct svg_place *place, FILE *out)
{
	fprintf(out, "<g fill=\"%s\">\n", place->color);
	switch (trace->series->mark) {
	case SVG_BARS:
	case SVG_BARS_LE:
		(place->shared ? draw_outline : draw_bars)(trace, place, out);
		break;
	case SVG_LINE:
		draw_line(trace, place, out);
		draw_points(trace, place, out);
		break;
	case SVG_POINTS:
		draw_points(trace, place, out);
		break;
	}
	fputs("</g>\n", out);
}
