/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pictures of the document: which report gets which, and the two that are not plots on axes. */
#include "view/html.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/svg.h"
#include "view/view.h"

#define NR(x)	    (sizeof(x) / sizeof((x)[0]))
#define MAX_CORES   256
#define MAX_HEAT    12
#define MAX_GROUPS  4
#define BAR_HEIGHT  18
#define BAR_LEFT    70
#define BAR_WIDTH   560
#define MAX_SERIES  8

static const struct {
	const char *key, *name, *color;
} contexts[] = {
	{"task_ratio", "tasks", "#0072b2"},
	{"hardirq_ratio", "interrupts", "#d55e00"},
	{"softirq_on_idle_ratio", "softirq on idle", "#e69f00"},
	{"softirq_on_task_ratio", "softirq on tasks", "#b58900"},
	{"ksoftirqd_ratio", "ksoftirqd", "#c0589a"},
	{"idle_loop_ratio", "idle loop", "#56b4e9"},
	{"steal_ratio", "stolen", "#6b3fa0"},
	{"unknown_ratio", "unknown", "#8c8c8c"},
	{"poll_idle_ratio", "polling idle", "#009e73"},
};

static double share(double value)
{
	return isnan(value) ? 0.0 : fmin(1.0, fmax(0.0, value));
}

static void core_legend(FILE *out, size_t y)
{
	double x = BAR_LEFT;

	for (size_t i = 0; i < NR(contexts); i++) {
		if (x > BAR_LEFT + BAR_WIDTH) {
			x = BAR_LEFT;
			y += 18;
		}
		fprintf(out,
			"<rect x=\"%.0f\" y=\"%zu\" width=\"11\" height=\"11\" fill=\"%s\"/>"
			"<text x=\"%.0f\" y=\"%zu\">%s</text>\n",
			x, y, contexts[i].color, x + 15, y + 10, contexts[i].name);
		x += 34.0 + 6.5 * (double)strlen(contexts[i].name);
	}
	fprintf(out,
		"<path d=\"M%.0f %zuv11\" stroke=\"#000\" stroke-width=\"3\"/>"
		"<text x=\"%.0f\" y=\"%zu\">/proc/stat says</text>\n",
		x + 5, y, x + 12, y + 10);
}

static void core_bar(FILE *out, const struct table *cpus, size_t row, size_t y)
{
	double x = BAR_LEFT, busy = html_number(cpus, row, "busy_ratio");
	double stat = html_number(cpus, row, "compare.procstat_busy_ratio");
	bool split = false;

	fprintf(out,
		"<text x=\"%d\" y=\"%zu\" text-anchor=\"end\">CPU %.0f</text>"
		"<rect x=\"%d\" y=\"%zu\" width=\"%d\" height=\"%d\" fill=\"#e3e7eb\"/>",
		BAR_LEFT - 8, y + 13, html_number(cpus, row, "cpu"), BAR_LEFT, y + 2, BAR_WIDTH,
		BAR_HEIGHT - 4);
	for (size_t i = 0; i < NR(contexts); i++) {
		double part = html_number(cpus, row, contexts[i].key), width;

		split |= !isnan(part);
		width = fmin(share(part) * BAR_WIDTH, BAR_LEFT + BAR_WIDTH - x);
		if (width < 0.05)
			continue;
		fprintf(out, "<rect x=\"%.2f\" y=\"%zu\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/>", x,
			y + 2, width, BAR_HEIGHT - 4, contexts[i].color);
		x += width;
	}
	if (!split && !isnan(busy))
		fprintf(out,
			"<rect x=\"%d\" y=\"%zu\" width=\"%.2f\" height=\"%d\" fill=\"#0072b2\"/>",
			BAR_LEFT, y + 2, share(busy) * BAR_WIDTH, BAR_HEIGHT - 4);
	if (!isnan(stat))
		fprintf(out,
			"<path d=\"M%.2f %zuv%d\" stroke=\"#fff\" stroke-width=\"5\"/>"
			"<path d=\"M%.2f %zuv%d\" stroke=\"#000\" stroke-width=\"3\"/>",
			BAR_LEFT + share(stat) * BAR_WIDTH, y + 1, BAR_HEIGHT - 2,
			BAR_LEFT + share(stat) * BAR_WIDTH, y + 1, BAR_HEIGHT - 2);
	fprintf(out, "<text x=\"%d\" y=\"%zu\">", BAR_LEFT + BAR_WIDTH + 8, y + 13);
	if (isnan(busy))
		fputs("no figure", out);
	else if (isnan(stat))
		fprintf(out, "%.1f%%", busy * 100.0);
	else
		fprintf(out, "%.1f%%, stat %.1f%%", busy * 100.0, stat * 100.0);
	fputs("</text>\n", out);
}

void html_cores(FILE *out, const struct table *cpus)
{
	size_t nr = cpus->nr_rows < MAX_CORES ? cpus->nr_rows : MAX_CORES;

	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 820 %zu\" width=\"820\" "
		"height=\"%zu\" font-family=\"sans-serif\" font-size=\"12\">"
		"<title>Each core, split by context</title>\n",
		nr * BAR_HEIGHT + 60, nr * BAR_HEIGHT + 60);
	for (size_t row = 0; row < nr; row++)
		core_bar(out, cpus, row, row * BAR_HEIGHT);
	core_legend(out, nr * BAR_HEIGHT + 10);
	fputs("</svg>\n", out);
	if (nr < cpus->nr_rows) {
		fputs("<p class=\"muted\">", out);
		html_textf(out, "The first %zu of %zu cores.", nr, cpus->nr_rows);
		fputs("</p>\n", out);
	}
}

struct heat {
	const char *name[MAX_HEAT];
	double sum[MAX_HEAT];
	size_t nr, left_out;
};

struct named {
	const char *name;
	double sum;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static int by_sum(const void *a, const void *b)
{
	double x = ((const struct named *)a)->sum, y = ((const struct named *)b)->sum;

	return x == y ? by_name(a, b) : x < y ? 1 : -1;
}

/* The names of one column with the largest sums. */
static int heat_names(struct heat *heat, const struct table *blame, const char *key)
{
	struct named *all = calloc(blame->nr_rows + 1, sizeof(*all));
	size_t nr = 0;

	if (!all)
		return -ENOMEM;
	for (size_t row = 0; row < blame->nr_rows; row++)
		all[row] = (struct named){html_str(blame, row, key) ?: "",
					  fmax(0.0, html_number(blame, row, "wait_ns"))};
	qsort(all, blame->nr_rows, sizeof(*all), by_name);
	for (size_t row = 0; row < blame->nr_rows; row++) {
		if (nr && !strcmp(all[nr - 1].name, all[row].name))
			all[nr - 1].sum += all[row].sum;
		else
			all[nr++] = all[row];
	}
	qsort(all, nr, sizeof(*all), by_sum);
	heat->nr = nr < MAX_HEAT ? nr : MAX_HEAT;
	heat->left_out = nr - heat->nr;
	for (size_t i = 0; i < heat->nr; i++)
		heat->name[i] = all[i].name;
	free(all);
	return 0;
}

static double heat_sum(const struct table *blame, const char *victim, const char *culprit)
{
	double sum = 0.0;

	for (size_t row = 0; row < blame->nr_rows; row++)
		if (!strcmp(html_str(blame, row, "victim") ?: "", victim) &&
		    !strcmp(html_str(blame, row, "culprit") ?: "", culprit))
			sum += fmax(0.0, html_number(blame, row, "wait_ns"));
	return sum;
}

static void heat_head(FILE *out, const char *scope, const char *name)
{
	fprintf(out, "<th scope=\"%s\" title=\"", scope);
	html_text(out, name);
	fputs("\">", out);
	html_text(out, name);
	fputs("</th>", out);
}

static void heat_rows(FILE *out, const struct table *blame, const struct heat *victims,
		      const struct heat *culprits)
{
	double cell[MAX_HEAT][MAX_HEAT], most = 0.0;
	char text[32];

	for (size_t v = 0; v < victims->nr; v++)
		for (size_t c = 0; c < culprits->nr; c++) {
			cell[v][c] = heat_sum(blame, victims->name[v], culprits->name[c]);
			most = fmax(most, cell[v][c]);
		}
	for (size_t v = 0; v < victims->nr; v++) {
		fputs("<tr>", out);
		heat_head(out, "row", victims->name[v]);
		for (size_t c = 0; c < culprits->nr; c++) {
			/* The square root lets small waits be seen beside large ones. */
			double heat = most > 0.0 ? sqrt(cell[v][c] / most) : 0.0;

			view_format_ns(cell[v][c], text, sizeof(text));
			fprintf(out, "<td class=\"n\" style=\"background:rgba(213,94,0,%.2f)\">%s</td>",
				heat * 0.7, cell[v][c] > 0.0 ? text : "");
		}
		fputs("</tr>\n", out);
	}
}

void html_heat(FILE *out, const struct table *blame)
{
	struct heat victims, culprits;

	if (!blame->nr_rows || heat_names(&victims, blame, "victim") ||
	    heat_names(&culprits, blame, "culprit"))
		return;
	fputs("<div class=\"scroll\"><table class=\"heat\"><caption>Who waited (rows) behind whom (columns)"
	      "</caption><thead><tr><td></td>",
	      out);
	for (size_t c = 0; c < culprits.nr; c++)
		heat_head(out, "col", culprits.name[c]);
	fputs("</tr></thead><tbody>\n", out);
	heat_rows(out, blame, &victims, &culprits);
	fputs("</tbody></table></div>\n", out);
	if (victims.left_out || culprits.left_out) {
		fputs("<p class=\"muted\">", out);
		html_textf(out, "Not shown: %zu victims and %zu culprits with less; the table has them.",
			   victims.left_out, culprits.left_out);
		fputs("</p>\n", out);
	}
}

static bool row_matches(const struct table *table, size_t row, const struct svg_series *series)
{
	const char *str;
	char number[24];

	if (!series->where)
		return true;
	str = html_str(table, row, series->where);
	if (str)
		return !strcmp(str, series->equals);
	snprintf(number, sizeof(number), "%.15g", html_number(table, row, series->where));
	return !strcmp(number, series->equals);
}

/* Whether all that a series names is there; a report from elsewhere may lack anything. */
static bool series_fits(const struct report *report, const struct svg_series *series)
{
	const struct table *table = html_table_of(report, series->table), *inner = table;
	int nested;

	if (!table || !table->nr_rows || (series->where && table_find(table, series->where) < 0))
		return false;
	if (series->nested) {
		nested = table_find(table, series->nested);
		if (nested < 0)
			return false;
		for (size_t row = 0; row < table->nr_rows; row++) {
			const struct value *value = table_cell(table, row, nested);

			if (!row_matches(table, row, series))
				continue;
			if (value->kind != VALUE_TABLE)
				return false;
			inner = value->table;
			if (table_find(inner, series->x) < 0 || table_find(inner, series->y) < 0)
				return false;
		}
		return true;
	}
	return table_find(inner, series->x) >= 0 && table_find(inner, series->y) >= 0 &&
	       (!series->x_end || table_find(inner, series->x_end) >= 0);
}

/* Draws the series that the report can fill; nothing when there is none. */
static int plot(FILE *out, const struct report *report, const struct svg_plot *wanted)
{
	struct svg_series series[MAX_SERIES];
	struct svg_plot one = *wanted;

	one.series = series;
	one.nr_series = 0;
	for (size_t i = 0; i < wanted->nr_series && one.nr_series < MAX_SERIES; i++)
		if (series_fits(report, &wanted->series[i]))
			series[one.nr_series++] = wanted->series[i];
	return one.nr_series ? svg_write(out, report, &one, 1) : 0;
}

/* The row with the largest figure under @below; SIZE_MAX when there is none. */
static size_t next_below(const struct table *table, const char *key, double below)
{
	size_t best = SIZE_MAX;
	double most = -INFINITY;

	for (size_t row = 0; row < table->nr_rows; row++) {
		double value = html_number(table, row, key);

		if (value > most && value < below) {
			most = value;
			best = row;
		}
	}
	return best;
}

static int plot_runq(FILE *out, const struct report *report)
{
	const struct table *groups = html_table_of(report, "groups");
	const struct table *blame = html_table_of(report, "blame");
	struct svg_series series[MAX_GROUPS];
	struct svg_plot histogram = {
		.title = "How long tasks waited, the groups that waited most",
		.x_label = "wait up to",
		.y_label = "waits",
		.x_log = true,
		.series = series,
	};
	int rc = 0;

	for (double below = INFINITY; groups && histogram.nr_series < MAX_GROUPS;) {
		size_t row = next_below(groups, "sum_ns", below);

		if (row == SIZE_MAX)
			break;
		below = html_number(groups, row, "sum_ns");
		if (html_str(groups, row, "cgroup"))
			series[histogram.nr_series++] = (struct svg_series){
				.table = "groups", .where = "cgroup",
				.equals = html_str(groups, row, "cgroup"), .nested = "le",
				.x = "le_ns", .y = "count",
				.label = html_str(groups, row, "cgroup"), .mark = SVG_BARS_LE};
	}
	if (histogram.nr_series)
		rc = plot(out, report, &histogram);
	if (blame)
		html_heat(out, blame);
	return rc;
}

/* Of the first cores; one plot of all would hide each. */
static int plot_bursts(FILE *out, const struct report *report)
{
	const struct table *bursts = html_table_of(report, "bursts");
	char cpu[MAX_GROUPS][24], label[MAX_GROUPS][32];
	struct svg_series series[MAX_GROUPS];
	struct svg_plot histogram = {
		.title = "Length of busy bursts",
		.x_label = "burst up to",
		.y_label = "bursts",
		.x_log = true,
		.series = series,
	};

	for (size_t row = 0; bursts && row < bursts->nr_rows && row < MAX_GROUPS; row++) {
		double number = html_number(bursts, row, "cpu");
		size_t i = histogram.nr_series;

		if (!(number >= 0.0 && number < 1e6))
			continue;
		snprintf(cpu[i], sizeof(cpu[i]), "%u", (unsigned int)number);
		snprintf(label[i], sizeof(label[i]), "CPU %u", (unsigned int)number);
		series[i] = (struct svg_series){
			.table = "bursts", .where = "cpu", .equals = cpu[i], .nested = "le",
			.x = "le_ns", .y = "count", .label = label[i], .mark = SVG_BARS_LE};
		histogram.nr_series += series_fits(report, &series[i]);
	}
	return histogram.nr_series ? plot(out, report, &histogram) : 0;
}

static int plot_load(FILE *out, const struct report *report)
{
	const struct table *cpus = html_table_of(report, "cpus");

	if (cpus)
		html_cores(out, cpus);
	return plot_bursts(out, report);
}

static int plot_wake(FILE *out, const struct report *report)
{
#define WAKE(key, name) \
	{.table = "states", .x = "cpu", .y = key, .label = name, .mark = SVG_POINTS}
	static const struct svg_series states[] = {WAKE("min_ns", "least"), WAKE("median_ns", "median"),
						   WAKE("p99_ns", "p99"), WAKE("max_ns", "longest"),
						   WAKE("claimed_ns", "claimed by the driver")};
	static const struct svg_plot by_core = {.title = "Wake latency by core, all states",
						.x_label = "CPU",
						.y_label = "latency",
						.y_log = true,
						.series = states,
						.nr_series = NR(states)};

	return plot(out, report, &by_core);
}

#define INTERVALS(set_name)                                                                   \
	{                                                                                     \
		.table = "intervals", .where = "set", .equals = set_name, .x = "interval_ns", \
		.x_end = "interval_end_ns", .y = "count", .label = set_name, .mark = SVG_BARS \
	}
#define DELAY(column, name)                                                                      \
	{                                                                                        \
		.table = "delays", .x = "delay_ns", .y = column, .label = name, .mark = SVG_LINE \
	}
#define ERRORS(source)                                                                      \
	{                                                                                   \
		.table = "errors", .where = "shown_by", .equals = source, .x = "length_ns", \
		.y = "error_max_ratio", .label = source, .mark = SVG_POINTS                 \
	}

static int plot_audit(FILE *out, const struct report *report)
{
	static const struct svg_series ticks[] = {INTERVALS("user+system: user, nice, system"),
						  INTERVALS("user+idle: all"),
						  INTERVALS("user+softirq: irq, softirq")};
	static const struct svg_series delays[] = {
		DELAY("thread_clock_ns", "true: thread clock"),
		DELAY("bpf_busy_ns", "true: core, source bpf"),
		DELAY("procstat_busy_ns", "busy columns of the core"),
		DELAY("rusage_user_ns", "user (getrusage)"),
		DELAY("rusage_system_ns", "system (getrusage)")};
	static const struct svg_series phases[] = {
		{.table = "phases", .x = "phase_ns", .y = "true_ratio", .label = "true", .mark = SVG_LINE},
		{.table = "phases",
		 .x = "phase_ns",
		 .y = "shown_ratio",
		 .label = "columns of /proc/stat",
		 .mark = SVG_LINE}};
	static const struct svg_series errors[] = {ERRORS("procstat"), ERRORS("procidle"),
						   ERRORS("schedstat"), ERRORS("taskclock"),
						   ERRORS("perf-tsc"), ERRORS("perf-calibrated")};
	static const struct svg_plot figures[] = {
		{.title = "Time between increments of /proc/stat",
		 .y_label = "increments",
		 .series = ticks,
		 .nr_series = NR(ticks)},
		{.title = "CPU time of a loop of sleeps, as accounted and true",
		 .x_label = "delay",
		 .y_label = "CPU time",
		 .series = delays,
		 .nr_series = NR(delays)},
		{.title = "Load of a core under a locked burn, by the phase of the burn",
		 .x_label = "phase",
		 .y_label = "load",
		 .series = phases,
		 .nr_series = NR(phases)},
		{.title = "Largest error of each source, all loads",
		 .x_label = "window",
		 .y_label = "error, points of load",
		 .x_log = true,
		 .series = errors,
		 .nr_series = NR(errors)},
	};
	int rc = 0;

	for (size_t i = 0; i < NR(figures) && !rc; i++)
		rc = plot(out, report, &figures[i]);
	return rc;
}

int html_plots(FILE *out, const struct report *report)
{
	static const struct {
		const char *command;
		int (*plot)(FILE *, const struct report *);
	} plots[] = {
		{"load", plot_load}, {"runq", plot_runq}, {"wake", plot_wake}, {"audit", plot_audit},
	};

	for (size_t i = 0; i < NR(plots); i++)
		if (!strcmp(plots[i].command, report->command))
			return plots[i].plot(out, report);
	fputs("<p class=\"muted\">No picture; see the tables.</p>\n", out);
	return 0;
}
