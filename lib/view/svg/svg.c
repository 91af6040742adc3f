/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws plots: frame, axes and legend. trace.c draws the series. */
#include "view/svg/svg.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "view/utf8.h"
#include "view/view.h"

#define WIDTH	      820.0
#define PLOT_HEIGHT   400.0 /* size of a plot in pixels, including title, labels and legend */
#define MARGIN_LEFT   84.0
#define MARGIN_RIGHT  24.0
#define MARGIN_TOP    40.0
#define MARGIN_BOTTOM 60.0
#define LEGEND_LINE   18.0
#define MIN_X_RATIO   50.0 /* minimum of end ÷ start of a histogram's logarithmic x axis */
#define LEGEND_GAP    6.0  /* pixels between title and legend */
#define LABEL_MAX     90   /* maximum number of characters of a label */

/*
 * Palette of Okabe and Ito without yellow and black: colour-blind people can distinguish its
 * colours on a white and on a dark page.
 */
static const char *const colors[] = {
	"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#767676",
};

struct plot {
	const struct svg_plot *plot;
	struct svg_trace *traces;
	size_t nr;
	/* columns of the first series, which determine unit and title of the axes */
	struct svg_columns first;
	struct svg_axis x_axis, y_axis;
	double top;
};

/* Draws the legend unless @out is NULL. Returns the number of lines of the legend. */
static size_t legend(const struct plot *p, FILE *out)
{
	double x = MARGIN_LEFT, y = p->top + MARGIN_TOP + 2.0 + LEGEND_GAP;
	size_t lines = 1;

	if (p->nr < 2)
		return 0;
	array_for_each(trace, p->traces, p->nr) {
		char *safe = utf8_printable(trace->label, LABEL_MAX);
		/* The width of a legend label is an estimate, because the font is unknown. */
		double width = 36.0 + 6.8 * (double)utf8_width(safe ?: "");

		free(safe);
		if (x > MARGIN_LEFT && x + width > WIDTH - MARGIN_RIGHT) {
			x = MARGIN_LEFT;
			y += LEGEND_LINE;
			lines++;
		}
		if (out) {
			fprintf(out,
				"<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" "
				"fill=\"%s\"/><text x=\"%.1f\" y=\"%.1f\">",
				x, y - 10.0, trace->color, x + 18.0, y);
			utf8_print_markup(out, trace->label, LABEL_MAX, false);
			fputs("</text>\n", out);
		}
		x += width;
	}
	return lines;
}

/* Computes the axes of a plot. Returns false if no series has data. */
static bool plot_axes(struct plot *p)
{
	double low_x = INFINITY, high_x = -INFINITY, low_y = INFINITY, high_y = -INFINITY;
	bool bars = false;

	array_for_each(trace, p->traces, p->nr) {
		array_for_each(dot, trace->dots, trace->nr) {
			low_x = fmin(low_x, dot->x);
			high_x = fmax(high_x, fmax(dot->x, dot->x_end));
			low_y = fmin(low_y, dot->y);
			high_y = fmax(high_y, dot->y);
		}
		bars |= svg_is_bars(trace->series);
	}
	if (!(low_x <= high_x) || !(low_y <= high_y))
		return false;
	/*
	 * The y axis starts at 0 for bars, because readers take the length of a bar as its value.
	 * For lines, the y axis starts at 0 if the lowest value is below half of the highest value.
	 */
	if (!p->plot->y_log && low_y > 0.0 && (bars || low_y < high_y / 2.0))
		low_y = 0.0;
	if (!p->plot->y_log && bars && high_y < 0.0)
		high_y = 0.0;
	/* A logarithmic axis starts below the lowest value, so that the lowest bar is visible. */
	if (p->plot->y_log && bars)
		low_y /= 2.0;
	if (!p->plot->x_log && low_x > 0.0 && low_x < high_x / 2.0)
		low_x = 0.0;
	/* Widen the x axis of a histogram, so that a single bucket does not fill the whole plot. */
	if (p->plot->x_log && bars)
		low_x = fmin(low_x, high_x / MIN_X_RATIO);
	svg_axis_init(&p->x_axis, p->first.x->metric->unit, p->plot->x_log, low_x, high_x);
	svg_axis_init(&p->y_axis, p->first.y->metric->unit, p->plot->y_log, low_y, high_y);
	p->x_axis.at = MARGIN_LEFT;
	p->x_axis.length = WIDTH - MARGIN_LEFT - MARGIN_RIGHT;
	p->y_axis.at = p->top + PLOT_HEIGHT - MARGIN_BOTTOM;
	p->y_axis.length = MARGIN_TOP + LEGEND_LINE * (double)legend(p, NULL) +
			   (p->nr > 1 ? LEGEND_GAP : 0.0) + MARGIN_BOTTOM - PLOT_HEIGHT;
	return true;
}

static void axis_title(FILE *out, const char *label, const struct svg_axis *axis)
{
	utf8_print_markup(out, label, LABEL_MAX, false);
	if (axis->unit[0])
		fprintf(out, " (%s)", axis->unit);
	fputs("</text>\n", out);
}

static void draw_axes(const struct plot *p, FILE *out)
{
	const struct svg_axis *x = &p->x_axis, *y = &p->y_axis;
	double right = x->at + x->length, upper = y->at + y->length, at;
	char label[32];

	array_for_each(tick, x->tick, x->nr_ticks) {
		at = svg_axis_pixel(x, *tick);
		svg_axis_label(x, *tick, label, sizeof(label));
		fprintf(out,
			"<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>"
			"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
			at, y->at, upper, at, y->at + 18.0, label);
	}
	array_for_each(tick, y->tick, y->nr_ticks) {
		at = svg_axis_pixel(y, *tick);
		svg_axis_label(y, *tick, label, sizeof(label));
		fprintf(out,
			"<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>"
			"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			x->at, at, right, x->at - 6.0, at + 4.0, label);
	}
	fprintf(out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", x->at, upper, y->at,
		right);
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", (x->at + right) / 2.0,
		y->at + 40.0);
	axis_title(out, p->plot->x_label ?: p->first.x->title, x);
	fprintf(out, "<text transform=\"translate(20 %.1f) rotate(-90)\" text-anchor=\"middle\">",
		(y->at + upper) / 2.0);
	axis_title(out, p->plot->y_label ?: p->first.y->title, y);
}

static int add_traces(struct plot *p, const struct svg_series *s, const struct report *report)
{
	const struct table *table = report_find(s->from ?: report, s->split_in ?: s->table);
	int col = s->split ? table_find(table, s->split) : -1, rc = 0;
	size_t rows[SVG_MAX_CURVES], nr = svg_values(table, col, rows, SVG_MAX_CURVES);
	size_t curves = nr > 1 && !s->first_only ? nr : 1;

	for (size_t i = 0; i < curves && !rc; i++) {
		struct svg_trace trace = {.series = s,
					  .only = nr > 1 ? table_cell(table, rows[i], col) : NULL,
					  .x = &p->x_axis,
					  .y = &p->y_axis,
					  .color = colors[p->nr % ARRAY_SIZE(colors)]};

		rc = array_push(p->traces, p->nr, trace);
		rc = rc ?: svg_trace_init(&p->traces[p->nr - 1], p->plot, &p->first, report);
	}
	return rc;
}

static int draw(struct plot *p, const struct report *report, FILE *out)
{
	int rc = 0;

	array_for_each(series, p->plot->series, p->plot->nr_series)
		rc = rc ?: add_traces(p, series, report);
	if (rc)
		goto out;
	fprintf(out, "<text class=\"title\" x=\"%.1f\" y=\"%.1f\">", MARGIN_LEFT, p->top + 26.0);
	utf8_print_markup(out, p->plot->title, 0, false);
	fputs("</text>\n", out);
	if (!plot_axes(p)) {
		fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">nothing was measured</text>\n",
			MARGIN_LEFT, p->top + PLOT_HEIGHT / 2.0);
		goto out;
	}
	draw_axes(p, out);
	array_for_each(trace, p->traces, p->nr)
		svg_trace_draw(trace, p->nr > 1, out);
	legend(p, out);
out:
	array_for_each(trace, p->traces, p->nr)
		free(trace->dots);
	free(p->traces);
	return rc;
}

int svg_write(FILE *out, const struct report *report, const struct svg_plot *plots, size_t nr_plots)
{
	int rc = report_check(report);

	if (rc)
		return rc;
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 %.0f %.0f\" "
		"width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" font-size=\"12\" "
		"fill=\"currentColor\">\n"
		"<style>.grid{stroke:#dddddd}.axis{stroke:#333333;fill:none}"
		".title{font-size:15px;font-weight:bold}</style>\n<title>",
		WIDTH, PLOT_HEIGHT * nr_plots, WIDTH, PLOT_HEIGHT * nr_plots);
	array_for_each(plot, plots, nr_plots) {
		fputs(plot > plots ? "; " : "", out);
		utf8_print_markup(out, plot->title, 0, false);
	}
	fputs("</title>\n<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
	      out);
	for (size_t i = 0; i < nr_plots && !rc; i++) {
		struct plot plot = {.plot = &plots[i], .top = PLOT_HEIGHT * i};

		rc = draw(&plot, report, out);
	}
	fputs("</svg>\n", out);
	return stream_end(out, rc);
}
