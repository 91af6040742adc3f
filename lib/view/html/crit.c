/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cost of disabling and enabling: bars by operation, from the typical cost to the worst. */
#include "view/html/html.h"

#include <math.h>
#include <string.h>

#include "view/svg/svg.h"

#define NR(x)	   (sizeof(x) / sizeof((x)[0]))
#define WIDTH	   820.0
#define LEFT	   84.0
#define RIGHT	   16.0
#define TOP	   70.0 /* title and legend */
#define HEIGHT	   340.0
#define BOTTOM	   40.0
#define MAX_GROUPS 12
#define MAX_BAR	   64.0

/* The bars of one operation: columns of a table, with their names and colours. */
struct bars {
	const char *title, *table;
	const struct bar {
		const char *key, *name, *color;
	} * bars;
	size_t nr;
};

/* From the typical cost of a pair to the worst. */
static const struct bar costs[] = {
	{"batch", "mean in a batch", "#0072b2"},
	{"median", "median", "#56b4e9"},
	{"average", "average", "#009e73"},
	{"percentiles.p99", "p99", "#e69f00"},
	{"max_avg", "average of the highest", "#cc79a7"},
	{"max", "longest", "#d55e00"},
};
static const struct bar switched[] = {
	{"off_before", "events off", "#56b4e9"},
	{"on", "events on", "#d55e00"},
	{"off_after", "off again", "#0072b2"},
};
static const struct bar versus[] = {
	{"then", "earlier run", "#56b4e9"},
	{"now", "this run", "#0072b2"},
};

static const struct bars pictures[] = {
	{"Cost of one pair of disable and enable, from typical to worst", "ops", costs, NR(costs)},
	{"Cost with the tracepoints off, on, and off again", "tracepoints", switched, NR(switched)},
	{"Compared with the earlier run", "against", versus, NR(versus)},
};

/* An axis for all values; false if there are none. */
static bool bars_axis(const struct bars *b, const struct table *table, struct svg_axis *ret_axis)
{
	double low = INFINITY, high = 0.0;

	for (size_t row = 0; row < table->nr_rows; row++)
		for (size_t i = 0; i < b->nr; i++) {
			double value = table_number(table, row, b->bars[i].key);

			if (value > 0.0) {
				low = fmin(low, value);
				high = fmax(high, value);
			}
		}
	if (!(high > 0.0))
		return false;
	/* Extend the axis, so that a bar at the lower end has some length. */
	svg_axis_init(ret_axis, UNIT_COUNT, true, low / 1.5, high);
	ret_axis->at = HEIGHT - BOTTOM;
	ret_axis->length = TOP + BOTTOM - HEIGHT;
	return true;
}

static void bars_frame(FILE *out, const struct bars *b, const struct svg_axis *axis,
		       const char *unit)
{
	double x = LEFT;

	fprintf(out,
		"<text class=\"title\" x=\"%.0f\" y=\"20\" font-size=\"15\" "
		"font-weight=\"bold\">%s</text>\n",
		LEFT, b->title);
	for (size_t i = 0; i < b->nr; i++) {
		fprintf(out,
			"<rect x=\"%.1f\" y=\"34\" width=\"12\" height=\"12\" fill=\"%s\"/>"
			"<text x=\"%.1f\" y=\"44\">%s</text>\n",
			x, b->bars[i].color, x + 18, b->bars[i].name);
		x += 36.0 + 6.8 * (double)strlen(b->bars[i].name);
	}
	svg_axis_rows(axis, out, LEFT, WIDTH - RIGHT);
	fprintf(out,
		"<text transform=\"translate(20 %.1f) rotate(-90)\" text-anchor=\"middle\">cost (",
		axis->at + axis->length / 2.0);
	html_text(out, unit);
	fputs(")</text>\n", out);
}

/* Draws one operation at @left; says so if it was not measured. 0 is not on a logarithmic axis. */
static void bars_group(FILE *out, const struct bars *b, const struct table *table, size_t row,
		       const struct svg_axis *axis, double left, double width)
{
	double step = fmin(MAX_BAR, width * 0.86 / (double)b->nr);
	double x = left + (width - step * (double)b->nr) / 2.0;
	size_t measured = 0;

	for (size_t i = 0; i < b->nr; i++, x += step) {
		double value = table_number(table, row, b->bars[i].key), y = axis->at;

		if (isnan(value))
			continue;
		measured++;
		if (value > 0.0)
			y = svg_axis_pixel(axis, value);
		fprintf(out,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>"
			"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" "
			"font-size=\"11\">%.*f</text>\n",
			x + 1, y, step - 2, axis->at - y, b->bars[i].color, x + step / 2, y - 4,
			value == round(value) || value >= 99.95 ? 0
			: value >= 9.995			? 1
								: 2,
			value);
	}
	if (!measured)
		fprintf(out,
			"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">not measured "
			"here</text>\n",
			left + width / 2, axis->at - 8);
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-weight=\"bold\">",
		left + width / 2, axis->at + 20);
	html_text(out, table_str(table, row, "op") ?: "(unnamed)");
	fputs("</text>\n", out);
}

static void bars_draw(FILE *out, const struct bars *b, const struct table *table, const char *unit)
{
	size_t nr = table->nr_rows < MAX_GROUPS ? table->nr_rows : MAX_GROUPS;
	double width = (WIDTH - LEFT - RIGHT) / (double)nr;
	struct svg_axis axis;

	if (!bars_axis(b, table, &axis))
		return;
	fprintf(out,
		"<figure><svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
		"viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
		"font-family=\"sans-serif\" "
		"font-size=\"12\" fill=\"currentColor\"><title>%s</title>\n",
		WIDTH, HEIGHT, WIDTH, HEIGHT, b->title);
	bars_frame(out, b, &axis, unit);
	for (size_t row = 0; row < nr; row++)
		bars_group(out, b, table, row, &axis, LEFT + width * (double)row, width);
	fprintf(out,
		"<path class=\"axis\" fill=\"none\" stroke=\"#333333\" d=\"M%.1f "
		"%.1fV%.1fH%.1f\"/>\n"
		"</svg></figure>\n",
		LEFT, axis.at + axis.length, axis.at, WIDTH - RIGHT);
}

int html_crit(FILE *out, const struct report *report)
{
	const char *unit = table_str(report->fields, 0, "unit") ?: "unknown unit";

	for (size_t i = 0; i < NR(pictures); i++) {
		const struct table *table = report_find(report, pictures[i].table);

		if (table && table->nr_rows)
			bars_draw(out, &pictures[i], table, unit);
	}
	return 0;
}
