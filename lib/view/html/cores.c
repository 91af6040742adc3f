/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cores as bars, split by context, with the busy share of /proc/stat as a mark. */
#include "view/html/html.h"

#include <math.h>
#include <string.h>

#define NR(x)	   (sizeof(x) / sizeof((x)[0]))
#define WIDTH	   820
/* "100.0%, /proc/stat 100.0%" in a wide font. */
#define FIGURE_WIDTH 190.0
#define MAX_CORES  256
#define FEW	   24 /* cores that get a line each */
#define LEGEND_GAP 14

static const struct html_context contexts[] = {
	{"task_ratio", "tasks", "#016abb"},
	{"hardirq_ratio", "interrupts", "#d55e00"},
	{"softirq_on_idle_ratio", "softirq on idle", "#e69f00"},
	{"softirq_on_task_ratio", "softirq on tasks", "#6d5920"},
	{"ksoftirqd_ratio", "ksoftirqd", "#c0589a"},
	{"idle_loop_ratio", "idle loop", "#6dbcee"},
	{"steal_ratio", "stolen", "#5d2784"},
	{"unknown_ratio", "unknown", "#8c8c8c"},
	{"poll_idle_ratio", "polling idle", "#009e73"},
};

const struct html_context *html_context_of(const char *part)
{
	size_t len = strlen(part);

	for (size_t i = 0; i < NR(contexts); i++)
		if (!strncmp(contexts[i].key, part, len) && !strcmp(contexts[i].key + len, "_ratio"))
			return &contexts[i];
	return NULL;
}

/* The place of one core; many cores are in several columns, so that 256 fit on a page. */
struct cell {
	double left, bar, width; /* of the name, of the bar */
	size_t y, height;
	bool few;
};

static double share(double value)
{
	return isnan(value) ? 0.0 : fmin(1.0, fmax(0.0, value));
}

static void core_parts(FILE *out, const struct table *cpus, size_t row, const struct cell *cell)
{
	double x = cell->bar, busy = table_number(cpus, row, "busy_ratio");
	bool split = false;

	for (size_t i = 0; i < NR(contexts); i++) {
		double part = table_number(cpus, row, contexts[i].key), width;

		split |= !isnan(part);
		width = fmin(share(part) * cell->width, cell->bar + cell->width - x);
		if (width < 0.05)
			continue;
		fprintf(out,
			"<rect x=\"%.2f\" y=\"%zu\" width=\"%.2f\" height=\"%zu\" fill=\"%s\"/>", x,
			cell->y + 2, width, cell->height - 4, contexts[i].color);
		x += width;
	}
	/* A source without contexts knows only how busy the core is. */
	if (!split && !isnan(busy))
		fprintf(out,
			"<rect x=\"%.2f\" y=\"%zu\" width=\"%.2f\" height=\"%zu\" fill=\"%s\"/>",
			cell->bar, cell->y + 2, share(busy) * cell->width, cell->height - 4,
			contexts[0].color);
}

static void core_figure(FILE *out, const struct cell *cell, double busy, double stat)
{
	fprintf(out, "<text x=\"%.0f\" y=\"%zu\">", cell->bar + cell->width + 6,
		cell->y + cell->height - 5);
	if (isnan(busy))
		fputs(cell->few ? "no figure" : "-", out);
	else if (isnan(stat) || !cell->few)
		fprintf(out, "%.1f%%", busy * 100.0);
	else
		fprintf(out, "%.1f%%, /proc/stat %.1f%%", busy * 100.0, stat * 100.0);
	fputs("</text>\n", out);
}

static void core_bar(FILE *out, const struct table *cpus, size_t row, const struct cell *cell)
{
	double stat = table_number(cpus, row, "compare.procstat_busy_ratio");
	double at = cell->bar + share(stat) * cell->width;

	fprintf(out,
		"<text x=\"%.0f\" y=\"%zu\" text-anchor=\"end\">%s%.0f</text>"
		"<rect class=\"idle\" x=\"%.0f\" y=\"%zu\" width=\"%.0f\" height=\"%zu\" "
		"fill=\"#e3e7eb\"/>",
		cell->bar - 6, cell->y + cell->height - 5, cell->few ? "CPU " : "",
		table_number(cpus, row, "cpu"), cell->bar, cell->y + 2, cell->width,
		cell->height - 4);
	core_parts(out, cpus, row, cell);
	if (!isnan(stat))
		fprintf(out,
			"<path class=\"halo\" d=\"M%.2f %zuv%zu\" stroke=\"#fff\" "
			"stroke-width=\"5\"/>"
			"<path class=\"mark\" d=\"M%.2f %zuv%zu\" stroke=\"#000\" "
			"stroke-width=\"%d\"/>",
			at, cell->y + 1, cell->height - 2, at, cell->y + 1, cell->height - 2,
			cell->few ? 3 : 2);
	core_figure(out, cell, table_number(cpus, row, "busy_ratio"), stat);
}

/* Draws the legend, unless @out is NULL, and returns its height. Leaves out unused contexts. */
static size_t core_legend(FILE *out, const struct table *cpus, size_t top)
{
	size_t y = top, nr;
	double x = 0.0;

	for (size_t i = 0; i <= NR(contexts); i++) {
		bool mark = i == NR(contexts);
		const char *name = mark ? "busy by /proc/stat" : contexts[i].name;
		double width = 34.0 + 6.6 * (double)strlen(name);

		html_mean(cpus, mark ? "compare.procstat_busy_ratio" : contexts[i].key, &nr);
		if (!nr)
			continue;
		if (x > 0.0 && x + width > WIDTH) {
			x = 0.0;
			y += 18;
		}
		if (out && mark)
			fprintf(out,
				"<path class=\"mark\" d=\"M%.0f %zuv11\" stroke=\"#000\" "
				"stroke-width=\"3\"/>",
				x + 6, y);
		else if (out)
			fprintf(out,
				"<rect x=\"%.0f\" y=\"%zu\" width=\"11\" height=\"11\" "
				"fill=\"%s\"/>",
				x, y, contexts[i].color);
		if (out)
			fprintf(out, "<text x=\"%.0f\" y=\"%zu\">%s</text>\n", x + 15, y + 10,
				name);
		x += width;
	}
	return y + 18 - top;
}

void html_cores(FILE *out, const struct table *cpus)
{
	size_t nr = cpus->nr_rows < MAX_CORES ? cpus->nr_rows : MAX_CORES;
	size_t columns = nr <= FEW	 ? 1
			 : nr <= 3 * FEW ? 3
					 : 4,
	       lines = (nr + columns - 1) / columns;
	double column = (double)WIDTH / (double)columns;
	struct cell cell = {.few = columns == 1, .height = columns == 1 ? 18 : 14};
	size_t legend = lines * cell.height + LEGEND_GAP;
	size_t height = legend + core_legend(NULL, cpus, legend);

	fprintf(out,
		"<figure><svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
		"viewBox=\"0 0 %d %zu\" width=\"%d\" height=\"%zu\" font-family=\"sans-serif\" "
		"font-size=\"%d\" fill=\"currentColor\"><title>Each core, split by "
		"context</title>\n",
		WIDTH, height, WIDTH, height, cell.few ? 12 : 10);
	for (size_t row = 0; row < nr; row++) {
		/* Fill columns from top to bottom, as a list is read. */
		cell.left = (double)(row / lines) * column;
		cell.y = row % lines * cell.height;
		cell.bar = cell.left + (cell.few ? 56.0 : 26.0);
		cell.width = column - (cell.few ? 56.0 + FIGURE_WIDTH : 26.0 + 50.0);
		core_bar(out, cpus, row, &cell);
	}
	fputs("<g font-size=\"12\">", out);
	core_legend(out, cpus, legend);
	fputs("</g></svg></figure>\n", out);
	if (nr < cpus->nr_rows) {
		fputs("<p class=\"muted\">", out);
		html_textf(out, "The first %zu of %zu cores.", nr, cpus->nr_rows);
		fputs("</p>\n", out);
	}
}
