/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws plots: frame, axes, legend; marks.c draws the series. */
#include "view/svg/svg.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/svg/trace.h"
#include "view/utf8.h"
#include "view/view.h"

#define WIDTH	      820.0
#define PLOT_HEIGHT   400.0 /* with title, labels and legend */
#define MARGIN_LEFT   84.0
#define MARGIN_RIGHT  24.0
#define MARGIN_TOP    40.0
#define MARGIN_BOTTOM 60.0
#define LEGEND_LINE   18.0
#define WIDTH_LEAST   50.0 /* minimum ratio of the ends of a histogram's logarithmic axis */
#define LEGEND_GAP    6.0  /* distance from the title */
#define LABEL_MAX     90   /* characters in a line of the legend */

/*
 * The palette of Okabe and Ito without yellow, and with grey for black: colour-blind people can
 * tell the colours apart, on a white and on a dark page.
 */
static const char *const colors[] = {
	"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#767676",
};

#define NR_COLORS (sizeof(colors) / sizeof(colors[0]))

struct plot {
	const struct svg_plot *plot;
	struct svg_trace *traces;
	struct svg_columns first; /* unit and title of the first series */
	struct svg_axis x_axis, y_axis;
	double top;
};

/*
 * Writes @text. Control characters are escaped as for a terminal, because XML 1.0 forbids them in
 * any form.
 */
static int put_text(FILE *out, const char *text, size_t max)
{
	static const char special[] = "<>&";
	static const char *const names[] = {"&lt;", "&gt;", "&amp;"};
	char *safe = utf8_printable(text, max);

	for (const char *p = safe ?: ""; *p; p++) {
		const char *at = strchr(special, *p);

		if (at) {
			fputs(names[at - special], out);
		} else if (!strncmp(p, "\xef\xbf\xbe", 3) || !strncmp(p, "\xef\xbf\xbf", 3)) {
			/* XML also forbids U+FFFE and U+FFFF. */
			fputs("\xef\xbf\xbd", out);
			p += 2;
		} else {
			fputc(*p, out);
		}
	}
	free(safe);
	return safe ? 0 : -ENOMEM;
}

/*
 * Width of an escaped label in columns, or 0 if out of memory; put_text() then returns the error.
 */
static double label_columns(const char *label)
{
	char *safe = utf8_printable(label, LABEL_MAX);
	double columns = safe ? (double)utf8_width(safe) : 0.0;

	free(safe);
	return columns;
}

/*
 * Draws the legend between title and plot. Returns the number of lines. @out may be NULL to only
 * count the lines.
 */
static size_t legend(const struct plot *p, FILE *out)
{
	double x = MARGIN_LEFT, y = p->top + MARGIN_TOP + 2.0 + LEGEND_GAP;
	size_t lines = 1;

	if (p->plot->nr_series < 2)
		return 0;
	for (size_t i = 0; i < p->plot->nr_series; i++) {
		const char *label = p->traces[i].label ?: "";
		/* Estimate the width of the text, because the font is unknown. */
		double width = 36.0 + 6.8 * label_columns(label);

		if (x > MARGIN_LEFT && x + width > WIDTH - MARGIN_RIGHT) {
			x = MARGIN_LEFT;
			y += LEGEND_LINE;
			lines++;
		}
		if (out) {
			fprintf(out,
				"<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" "
				"fill=\"%s\"/>",
				x, y - 10.0, colors[i % NR_COLORS]);
			fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">", x + 18.0, y);
			if (put_text(out, label, LABEL_MAX))
				return 0;
			fputs("</text>\n", out);
		}
		x += width;
	}
	return lines;
}

/* Computes the axes for all series. False if there is nothing to draw. */
static bool plot_axes(struct plot *p)
{
	double low_x = INFINITY, high_x = -INFINITY, low_y = INFINITY, high_y = -INFINITY;
	bool zero = false;

	for (size_t i = 0; i < p->plot->nr_series; i++) {
		const struct svg_trace *trace = &p->traces[i];

		for (size_t j = 0; j < trace->nr; j++) {
			low_x = fmin(low_x, trace->dots[j].x);
			high_x = fmax(high_x, fmax(trace->dots[j].x, trace->dots[j].x_end));
			low_y = fmin(low_y, trace->dots[j].y);
			high_y = fmax(high_y, trace->dots[j].y);
		}
		zero |= svg_is_bars(trace->series);
	}
	if (!(low_x <= high_x) || !(low_y <= high_y))
		return false;
	/*
	 * Start the axis at 0, because the length of a bar is read as its value. Lines that come
	 * close to 0 also start at 0.
	 */
	if (!p->plot->y_log && low_y > 0.0 && (zero || low_y < high_y / 2.0))
		low_y = 0.0;
	if (!p->plot->y_log && zero && high_y < 0.0)
		high_y = 0.0;
	/* Start below the lowest bar, which otherwise would have no height. */
	if (p->plot->y_log && zero)
		low_y /= 2.0;
	if (!p->plot->x_log && low_x > 0.0 && low_x < high_x / 2.0)
		low_x = 0.0;
	/* Widen the axis, so that a single bucket does not fill the whole width. */
	if (p->plot->x_log && zero)
		low_x = fmin(low_x, high_x / WIDTH_LEAST);
	svg_axis_init(&p->x_axis, p->first.x->metric->unit, p->plot->x_log, low_x, high_x);
	svg_axis_init(&p->y_axis, p->first.y->metric->unit, p->plot->y_log, low_y, high_y);
	p->x_axis.at = MARGIN_LEFT;
	p->x_axis.length = WIDTH - MARGIN_LEFT - MARGIN_RIGHT;
	p->y_axis.at = p->top + PLOT_HEIGHT - MARGIN_BOTTOM;
	p->y_axis.length = MARGIN_TOP + LEGEND_LINE * (double)legend(p, NULL) +
			   (p->plot->nr_series > 1 ? LEGEND_GAP : 0.0) + MARGIN_BOTTOM -
			   PLOT_HEIGHT;
	return true;
}

static int axis_title(FILE *out, const char *label, const struct svg_axis *axis)
{
	int rc = put_text(out, label, LABEL_MAX);

	if (axis->unit[0])
		fprintf(out, " (%s)", axis->unit);
	fputs("</text>\n", out);
	return rc;
}

static int draw_axes(const struct plot *p, FILE *out)
{
	const struct svg_axis *x = &p->x_axis, *y = &p->y_axis;
	double right = x->at + x->length, upper = y->at + y->length;
	char label[32];
	int rc;

	for (size_t i = 0; i < x->nr_ticks; i++) {
		double at = svg_axis_pixel(x, x->tick[i]);

		svg_axis_label(x, x->tick[i], label, sizeof(label));
		fprintf(out,
			"<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>"
			"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
			at, y->at, upper, at, y->at + 18.0, label);
	}
	svg_axis_rows(y, out, x->at, right);
	fprintf(out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", x->at, upper, y->at,
		right);
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", (x->at + right) / 2.0,
		y->at + 40.0);
	rc = axis_title(out, p->plot->x_label ?: p->first.x->title, x);
	fprintf(out, "<text transform=\"translate(20 %.1f) rotate(-90)\" text-anchor=\"middle\">",
		(y->at + upper) / 2.0);
	return rc ?: axis_title(out, p->plot->y_label ?: p->first.y->title, y);
}

static int draw(struct plot *p, const struct report *report, FILE *out)
{
	int rc = 0;

	p->traces = calloc(p->plot->nr_series ?: 1, sizeof(*p->traces));
	if (!p->traces)
		return -ENOMEM;
	for (size_t i = 0; i < p->plot->nr_series && !rc; i++) {
		p->traces[i].series = &p->plot->series[i];
		p->traces[i].label = p->plot->series[i].label;
		rc = svg_trace_init(&p->traces[i], p->plot, &p->first, report);
	}
	if (rc)
		goto out;
	fprintf(out, "<text class=\"title\" x=\"%.1f\" y=\"%.1f\">", MARGIN_LEFT, p->top + 26.0);
	rc = put_text(out, p->plot->title ?: "", 0);
	fputs("</text>\n", out);
	if (!plot_axes(p)) {
		fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">nothing was measured</text>\n",
			MARGIN_LEFT, p->top + PLOT_HEIGHT / 2.0);
		goto out;
	}
	if (!rc)
		rc = draw_axes(p, out);
	for (size_t i = 0; i < p->plot->nr_series; i++)
		svg_trace_draw(&p->traces[i],
			       &(struct svg_place){&p->x_axis, &p->y_axis, colors[i % NR_COLORS],
						   p->plot->nr_series > 1},
			       out);
	if (p->plot->nr_series > 1 && !legend(p, out))
		rc = -ENOMEM;
out:
	for (size_t i = 0; i < p->plot->nr_series; i++)
		free(p->traces[i].dots);
	free(p->traces);
	return rc;
}

int svg_write(FILE *out, const struct report *report, const struct svg_plot *plots, size_t nr_plots)
{
	struct output output;
	int rc = report_check(report);

	if (!rc)
		rc = output_begin(&output, out);
	if (rc)
		return rc;
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 %.0f %.0f\" "
		"width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" font-size=\"12\" "
		"fill=\"currentColor\">\n"
		"<style>.grid{stroke:#dddddd}.axis{stroke:#333333;fill:none}"
		".title{font-size:15px;font-weight:bold}</style>\n<title>",
		WIDTH, PLOT_HEIGHT * nr_plots, WIDTH, PLOT_HEIGHT * nr_plots);
	for (size_t i = 0; i < nr_plots && !rc; i++) {
		fputs(i ? "; " : "", out);
		rc = put_text(out, plots[i].title ?: "", 0);
	}
	fputs("</title>\n<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
	      out);
	for (size_t i = 0; i < nr_plots && !rc; i++) {
		struct plot plot = {.plot = &plots[i], .top = PLOT_HEIGHT * i};

		rc = draw(&plot, report, out);
	}
	fputs("</svg>\n", out);
	return output_end(&output, rc);
}
