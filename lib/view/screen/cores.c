/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws the load of the CPUs as a map, or as bars with history and the load of /proc/stat. */
#include "view/screen/screen.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/losses.h"
#include "view/utf8.h"
#include "view/view.h"

#define GAP	2
#define MAX_CPU 65536

static double ratio_at(const struct table *table, size_t row, int col)
{
	const struct value *value = col < 0 ? NULL : table_cell(table, row, col);

	return value && value->kind == VALUE_F64 ? value->f64 : NAN;
}

void screen_history_free(struct screen_history *history)
{
	free(history->busy);
	*history = (struct screen_history){0};
}

static int history_grow(struct screen_history *history, size_t nr)
{
	double *busy = reallocarray(history->busy, nr, SCREEN_HISTORY * sizeof(*busy));

	if (!busy)
		return -ENOMEM;
	for (size_t i = history->nr_cpus * SCREEN_HISTORY; i < nr * SCREEN_HISTORY; i++)
		busy[i] = NAN;
	history->busy = busy;
	history->nr_cpus = nr;
	return 0;
}

static int cpu_of(const struct table *cores, size_t row)
{
	const struct value *value = table_cell(cores, row, 0);

	return value->kind == VALUE_U64 && value->u64 < MAX_CPU ? (int)value->u64 : -1;
}

int screen_history_add(struct screen_history *history, const struct table *cores)
{
	int col = table_metric(cores, M_BUSY_RATIO), rc = 0;

	/* If a window has no load of the CPU, the history contains NaN. */
	for (size_t cpu = 0; cpu < history->nr_cpus; cpu++) {
		double *busy = &history->busy[cpu * SCREEN_HISTORY];

		memmove(busy, busy + 1, (SCREEN_HISTORY - 1) * sizeof(*busy));
		busy[SCREEN_HISTORY - 1] = NAN;
	}
	for (size_t row = 0; col >= 0 && row < cores->nr_rows && !rc; row++) {
		double ratio = ratio_at(cores, row, col);
		int cpu = cpu_of(cores, row);

		if (cpu < 0 || isnan(ratio))
			continue;
		if ((size_t)cpu >= history->nr_cpus)
			rc = history_grow(history, cpu + 1);
		if (!rc)
			history->busy[cpu * SCREEN_HISTORY + SCREEN_HISTORY - 1] = ratio;
	}
	return rc;
}

/* Returns the character for a ratio from 0 to 1: one of eight blocks, or a digit in ASCII. */
static const char *level(const struct screen *screen, double share)
{
	static const char *const eighths[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const tenths[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
	int nr = screen->ascii ? 10 : 8;
	int at = share >= 1 ? nr - 1 : share > 0 ? (int)(share * nr) : 0;

	return isnan(share) ? "-" : screen->ascii ? tenths[at] : eighths[at];
}

static void draw_history(const struct screen *screen, const struct table *cores, size_t row, int y,
			 int x, int width, struct canvas *canvas)
{
	const struct screen_history *history = &screen->history;
	int cpu = cpu_of(cores, row);

	for (int i = 0; i < width; i++)
		canvas_put(canvas, y, x + i, canvas->cols, STYLE_DIM,
			   level(screen,
				 cpu >= 0 && (size_t)cpu < history->nr_cpus
					 ? history->busy[(cpu + 1) * SCREEN_HISTORY - width + i]
					 : NAN));
}

static void core_name(const struct table *table, size_t row, char *buf, size_t size)
{
	view_format_value(table_cell(table, row, 0), UNIT_ID, buf, size);
}

int screen_cores_name_width(const struct table *table)
{
	int width = 1;
	char name[64];

	for (size_t row = 0; row < table->nr_rows; row++) {
		core_name(table, row, name, sizeof(name));
		if ((int)strlen(name) > width)
			width = strlen(name);
	}
	return width;
}

/* Width of a busy ratio such as " 31.4%", and of the ratio of /proc/stat if known. */
int screen_cores_figure_width(const struct table *table)
{
	return table_metric(table, M_CMP_PROCSTAT) < 0 ? 6 : 6 + 1 + 6;
}

static bool is_shown(const struct table *table, size_t col)
{
	for (size_t row = 0; row < table->nr_rows; row++)
		if (table_cell(table, row, col)->kind != VALUE_NULL)
			return true;
	return false;
}

static int legend_item(int cols, struct canvas *canvas, const struct screen_layout *layout, int *at,
		       int line, const struct bar_style *look, bool ascii, const char *title)
{
	const char *shape = ascii ? look->ascii : look->shape;
	int width = utf8_width(shape) + 1 + utf8_width(title);

	if (*at && *at + GAP + width > cols) {
		line++;
		*at = 0;
	}
	*at += *at ? GAP : 0;
	if (canvas) {
		int row = layout->legend_top + line;
		int next = canvas_put(canvas, row, *at, canvas->cols, look->style, shape);

		canvas_put(canvas, row, next + 1, canvas->cols, STYLE_PLAIN, title);
	}
	*at += width;
	return line;
}

int screen_cores_legend(const struct screen *screen, const struct table *table,
			const struct screen_layout *layout, int cols, struct canvas *canvas)
{
	static const struct bar_style mark = {"┃", "|", STYLE_BOLD};
	int at = 0, line = 0;

	if (layout->mode == SCREEN_CORES_MAP) {
		char group[48];

		snprintf(group, sizeof(group), "busiest of %zu cores each", layout->group);
		if (canvas)
			canvas_printf(canvas, layout->legend_top, 0, cols, STYLE_DIM,
				      "%s; reversed: /proc/stat is more than %.0f points off",
				      layout->group > 1 ? group
				      : screen->ascii	? "busy tenths, 0 to 9"
							: "busy eighths, ▁ to █",
				      LOAD_WRONG_RATIO * 100.0);
		return 1;
	}
	for (size_t col = table->bar_first; col < table->bar_end; col++) {
		if (is_shown(table, col))
			line = legend_item(cols, canvas, layout, &at, line,
					   bar_style_of(table, col), screen->ascii,
					   table->cols[col].title);
	}
	if (table_metric(table, M_CMP_PROCSTAT) >= 0)
		line = legend_item(cols, canvas, layout, &at, line, &mark, screen->ascii,
				   "busy by /proc/stat");
	return line + 1;
}

static void draw_parts(const struct screen *screen, const struct table *table, size_t row, int y,
		       int x, int cells, struct canvas *canvas)
{
	int at = 0;

	for (size_t col = table->bar_first; col < table->bar_end; col++) {
		int end = bar_part_end(table, row, col, cells);
		const struct bar_style *look = bar_style_of(table, col);

		canvas_repeat(canvas, y, x + at, end - at, look->style,
			      screen->ascii ? look->ascii : look->shape);
		at = end;
	}
}

static void draw_figure(double ratio, int y, int x, enum style style, struct canvas *canvas)
{
	char text[16];

	view_format_ratio(ratio, text, sizeof(text));
	canvas_printf(canvas, y, x, canvas->cols, style, "%6s", text);
}

static void draw_bar(const struct screen *screen, const struct table *table, size_t row, int y,
		     int x, const struct screen_layout *layout, struct canvas *canvas)
{
	double busy = ratio_at(table, row, table_metric(table, M_BUSY_RATIO));
	double claim = ratio_at(table, row, table_metric(table, M_CMP_PROCSTAT));
	int cells = layout->bar_width - 2;
	const char *flags = table_str(table, row, "flags");
	char name[64];
	int bar = x + layout->name_width + 1, figures = bar + cells + 2 + 1;

	core_name(table, row, name, sizeof(name));
	canvas_printf(canvas, y, x, bar, STYLE_BOLD, "%*s", layout->name_width, name);
	canvas_put(canvas, y, bar, canvas->cols, STYLE_PLAIN, "[");
	canvas_put(canvas, y, bar + cells + 1, canvas->cols, STYLE_PLAIN, "]");
	if (layout->history_width)
		draw_history(screen, table, row, y, figures + layout->figure_width + 1,
			     layout->history_width, canvas);
	if (isnan(busy)) {
		canvas_put(canvas, y, bar + 2, bar + cells + 1, STYLE_DIM,
			   flags && *flags ? flags : "no figure");
		return;
	}
	if (table_cell(table, row, table->bar_first)->kind == VALUE_NULL)
		/* Some load sources measure only the busy ratio, without a split into contexts. */
		canvas_repeat(canvas, y, bar + 1, busy >= 1 ? cells : (int)lrint(busy * cells),
			      STYLE_GREEN, screen->ascii ? "#" : "█");
	else
		draw_parts(screen, table, row, y, bar + 1, cells, canvas);
	draw_figure(busy, y, figures, STYLE_BOLD, canvas);
	if (isnan(claim))
		return;
	canvas_put(canvas, y, bar + 1 + (claim >= 1 ? cells - 1 : (int)(claim * cells)),
		   canvas->cols, STYLE_BOLD, screen->ascii ? "|" : "┃");
	draw_figure(claim, y, figures + 7, load_is_wrong(claim, busy) ? STYLE_ALARM : STYLE_DIM,
		    canvas);
}

static void draw_bars(const struct screen *screen, const struct table *table,
		      const struct screen_layout *layout, struct canvas *canvas)
{
	for (size_t row = 0; row < table->nr_rows; row++) {
		int column = row / layout->cores_rows, line = row % layout->cores_rows;

		draw_bar(screen, table, row, layout->cores_top + line,
			 column * (layout->cell_width + GAP), layout, canvas);
	}
}

static void draw_map_cell(const struct screen *screen, const struct table *table, size_t first,
			  size_t group, int y, int x, struct canvas *canvas)
{
	int col_busy = table_metric(table, M_BUSY_RATIO),
	    col_claim = table_metric(table, M_CMP_PROCSTAT);
	double most = NAN;
	bool off = false;

	for (size_t row = first; row < first + group && row < table->nr_rows; row++) {
		double busy = ratio_at(table, row, col_busy);

		if (!isnan(busy) && !(most >= busy))
			most = busy;
		off |= load_is_wrong(ratio_at(table, row, col_claim), busy);
	}
	canvas_put(canvas, y, x, canvas->cols,
		   isnan(most)	   ? STYLE_DIM
		   : off	   ? STYLE_REVERSE
		   : most >= 0.875 ? STYLE_RED
		   : most >= 0.5   ? STYLE_YELLOW
				   : STYLE_GREEN,
		   level(screen, most));
}

static void draw_map(const struct screen *screen, const struct table *table,
		     const struct screen_layout *layout, struct canvas *canvas)
{
	int names = layout->name_width, label = 2 * names + 1 + 1;
	size_t line_cores = layout->per_row * layout->group;

	for (size_t row = 0; row < table->nr_rows; row += line_cores) {
		size_t last = row + line_cores < table->nr_rows ? row + line_cores : table->nr_rows;
		int y = layout->cores_top + row / line_cores, x = label;
		char from[64], to[64];

		core_name(table, row, from, sizeof(from));
		core_name(table, last - 1, to, sizeof(to));
		canvas_printf(canvas, y, 0, label, STYLE_BOLD, "%*s-%s", names, from, to);
		canvas_put(canvas, y, x++, canvas->cols, STYLE_PLAIN, "[");
		for (size_t at = row; at < last; at += layout->group)
			draw_map_cell(screen, table, at, layout->group, y, x++, canvas);
		canvas_put(canvas, y, x, canvas->cols, STYLE_PLAIN, "]");
	}
}

void screen_cores_draw(const struct screen *screen, const struct table *table,
		       const struct screen_layout *layout, struct canvas *canvas)
{
	if (layout->mode == SCREEN_CORES_BARS)
		draw_bars(screen, table, layout, canvas);
	else if (layout->mode == SCREEN_CORES_MAP)
		draw_map(screen, table, layout, canvas);
	screen_cores_legend(screen, table, layout, canvas->cols, canvas);
}
