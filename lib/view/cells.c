/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Formats cells and numbers as text, and chooses shape and colour of the parts of a bar. */
#include "view/cells.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/utf8.h"
#include "view/view.h"

static const struct {
	enum metric_id id;
	struct bar_style look;
} looks[] = {
	{M_TASK_RATIO, {"█", "#", STYLE_GREEN}},
	{M_HARDIRQ_RATIO, {"▓", "%", STYLE_RED}},
	{M_SOFTIRQ_ON_IDLE_RATIO, {"▒", "=", STYLE_YELLOW}},
	{M_SOFTIRQ_ON_TASK_RATIO, {"░", "-", STYLE_MAGENTA}},
	{M_KSOFTIRQD_RATIO, {"k", "k", STYLE_BLUE}},
	{M_IDLE_LOOP_RATIO, {"~", "~", STYLE_CYAN}},
	{M_POLL_IDLE_RATIO, {"o", "o", STYLE_CYAN}},
	{M_IDLE_RATIO, {"·", ".", STYLE_DIM}},
	{M_STEAL_RATIO, {"x", "x", STYLE_BRIGHT_RED}},
	{M_UNKNOWN_RATIO, {"?", "?", STYLE_BRIGHT_MAGENTA}},
};

const struct bar_style *bar_style_of(const struct table *table, size_t col)
{
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(looks) && table->cols[col].metric != metric_get(looks[i].id))
		i++;
	return &looks[i].look;
}

size_t bar_part_end(const struct table *table, size_t row, size_t col, size_t width)
{
	double sum = 0;

	/* fmax() ignores the NAN of a missing value */
	for (size_t i = table->bar_first; i <= col; i++)
		sum += fmax(value_number(table_cell(table, row, i)), 0);
	return sum >= 1 ? width : (size_t)lrint(sum * width);
}

const char *style_sgr(enum style style)
{
	static const char *const sgr[STYLE_NR] = {
		[STYLE_PLAIN] = "",
		[STYLE_BOLD] = "\033[1m",
		[STYLE_DIM] = "\033[2m",
		[STYLE_RED] = "\033[31m",
		[STYLE_GREEN] = "\033[32m",
		[STYLE_YELLOW] = "\033[33m",
		[STYLE_BLUE] = "\033[34m",
		[STYLE_MAGENTA] = "\033[35m",
		[STYLE_CYAN] = "\033[36m",
		[STYLE_BRIGHT_RED] = "\033[91m",
		[STYLE_BRIGHT_MAGENTA] = "\033[95m",
		[STYLE_REVERSE] = "\033[7m",
		[STYLE_ALARM] = "\033[1;31m",
	};

	return sgr[style];
}

#define NAME_MIN 16 /* minimum width of a name column */
#define NAME_NO_TERMINAL 96 /* maximum width of a name in a pipe or file */

static enum unit unit_of(const struct table *table, size_t col)
{
	return table->cols[col].metric->unit;
}

size_t cells_name_max(size_t width)
{
	if (!width)
		return NAME_NO_TERMINAL;
	return width / 3 < NAME_MIN ? NAME_MIN : width / 3;
}

bool cells_blank(const struct table *table, size_t col)
{
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct value *value = table_cell(table, row, col);

		if (value->kind != VALUE_STR || *value->str)
			return false;
	}
	return table->nr_rows > 0;
}

bool cells_left(const struct table *table, size_t col)
{
	return unit_of(table, col) == UNIT_TEXT || unit_of(table, col) == UNIT_BOOL;
}

bool cells_name(const struct table *table, size_t col)
{
	return unit_of(table, col) == UNIT_TEXT || unit_of(table, col) == UNIT_ID;
}

size_t cells_min_width(const struct table *table, size_t col)
{
	size_t title = utf8_width(table->cols[col].title);
	size_t figure = unit_of(table, col) == UNIT_RATIO ? strlen("100.0%")
			: unit_of(table, col) == UNIT_NS  ? strlen("1.23 ms")
							  : 1;

	return title > figure ? title : figure;
}

char *cells_text(const struct table *table, size_t row, size_t col, size_t max)
{
	const struct value *value = table_cell(table, row, col);
	char number[64];

	if (value->kind == VALUE_STR)
		return utf8_printable_path(value->str, max);
	view_format_value(value, unit_of(table, col), number, sizeof(number));
	return strdup(number);
}

/* True if @sum sums the rows of @table. In a report from a file, the columns may differ. */
static bool sums_up(const struct table *sum, const struct table *table)
{
	if (!sum || !sum->sum || sum->nr_rows != 1 || sum->nr_cols != table->nr_cols ||
	    table->nr_rows < 2)
		return false;
	for (size_t col = 0; col < table->nr_cols; col++)
		if (strcmp(sum->cols[col].key, table->cols[col].key))
			return false;
	return true;
}

int cells_with_sum(const struct table *table, const struct table *sum, struct table *ret_table)
{
	bool on_top = sums_up(sum, table);
	size_t nr = (table->nr_rows + on_top) * table->nr_cols;
	struct value *cells = calloc(nr + 1, sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	if (on_top)
		memcpy(cells, sum->cells, table->nr_cols * sizeof(*cells));
	if (table->nr_rows)
		memcpy(cells + on_top * table->nr_cols, table->cells,
		       table->nr_rows * table->nr_cols * sizeof(*cells));
	*ret_table = *table;
	ret_table->cells = cells;
	ret_table->nr_rows += on_top;
	return 0;
}

struct scale {
	double factor;
	const char *unit;
};

/* Some serial consoles cannot show "µs", so microseconds are shown as "us". */
static const struct scale ns_scales[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
static const struct scale hz_scales[] = {{1, "Hz"}, {1e3, "kHz"}, {1e6, "MHz"}, {1e9, "GHz"}};
static const struct scale byte_scales[] = {
	{1, "B"}, {1024, "KiB"}, {1048576, "MiB"}, {1073741824, "GiB"}, {1099511627776, "TiB"}};

#define SCALES(x) {x, ARRAY_SIZE(x)}

static const struct {
	const struct scale *scales;
	size_t nr;
} units[UNIT_TABLE + 1] = {
	[UNIT_NS] = SCALES(ns_scales),
	[UNIT_HZ] = SCALES(hz_scales),
	[UNIT_BYTES] = SCALES(byte_scales),
};

static void scale_format(double x, enum unit unit, char *buf, size_t size)
{
	const struct scale *scales = units[unit].scales;
	double abs = fabs(x), shown;
	size_t i = 0;

	if (!isfinite(x)) {
		snprintf(buf, size, "-");
		return;
	}
	/* Use the next larger unit if rounding would give four digits. */
	while (i + 1 < units[unit].nr && abs / scales[i].factor >= 999.5 &&
	       (abs >= scales[i + 1].factor || scales[i + 1].factor == scales[i].factor * 1000))
		i++;
	shown = abs / scales[i].factor;
	/* A whole number in the smallest unit is exact and needs no decimals. */
	if (i == 0 && abs == floor(abs))
		snprintf(buf, size, "%.0f %s", abs > 0 ? x : 0, scales[i].unit);
	else /* three significant digits */
		snprintf(buf, size, "%.*f %s", (shown < 99.95) + (shown < 9.995),
			 x / scales[i].factor, scales[i].unit);
}

void view_format_ns(double ns, char *buf, size_t size)
{
	scale_format(ns, UNIT_NS, buf, size);
}

void view_format_ratio(double ratio, char *buf, size_t size)
{
	double percent = ratio * 100;

	if (!isfinite(percent))
		snprintf(buf, size, "-");
	else /* Small negative ratios are shown as "0.0%", not "-0.0%". */
		snprintf(buf, size, "%.1f%%", fabs(percent) < 0.05 ? 0.0 : percent);
}

void view_format_ratio_fine(double ratio, char *buf, size_t size)
{
	double abs = fabs(ratio * 100);

	if (!(abs > 0) || abs >= 0.095)
		view_format_ratio(ratio, buf, size);
	else if (abs < 0.00005)
		snprintf(buf, size, "<0.0001%%");
	else
		snprintf(buf, size, "%.*f%%",
			 abs < 0.00095	? 4
			 : abs < 0.0095 ? 3
					: 2,
			 ratio * 100);
}

bool view_is_whole(const struct value *value, enum unit unit)
{
	return value->kind == VALUE_F64 && fabs(value->f64) >= 1e6 && fabs(value->f64) < 9e18 &&
	       (unit == UNIT_NS || unit == UNIT_COUNT || unit == UNIT_CYCLES || unit == UNIT_HZ ||
		unit == UNIT_BYTES);
}

void view_format_value(const struct value *value, enum unit unit, char *buf, size_t size)
{
	double x = value->kind == VALUE_U64 ? (double)value->u64 : value->f64;

	if (value->kind == VALUE_BOOL)
		snprintf(buf, size, "%s", value->flag ? "yes" : "no");
	else if (value->kind != VALUE_U64 && value->kind != VALUE_F64)
		snprintf(buf, size, "-");
	else if (units[unit].nr)
		scale_format(x, unit, buf, size);
	else if (unit == UNIT_RATIO)
		view_format_ratio(x, buf, size);
	else if (value->kind == VALUE_U64)
		snprintf(buf, size, "%" PRIu64, value->u64);
	else
		snprintf(buf, size, "%.*f", fabs(x) < 1000 ? 1 : 0, x);
}
