/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plots of a report's tables as one SVG file: points, lines and histograms on labelled axes. */
#ifndef SUBTICK_VIEW_SVG_H
#define SUBTICK_VIEW_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/report.h"

enum svg_mark {
	SVG_POINTS,
	SVG_LINE,    /* joined in the order of the rows, with a point on each */
	SVG_BARS,    /* from @x to @x_end, or a thin bar on @x when that is NULL */
	SVG_BARS_LE, /* a histogram of cumulative counts: @x is the upper edge, inclusive */
	SVG_RULE,    /* a dashed line from top to bottom at @x; @y only has to be there */
};

/*
 * Which cells to draw, by keys of columns. A row with a null in one of them is left out; so are,
 * on a logarithmic axis, values that are not positive.
 */
struct svg_series {
	const char *table;  /* key of a table of the report */
	const char *where;  /* only rows whose column of this key reads @equals; NULL: all rows */
	const char *equals; /* a text, or a number in decimal */
	const char *nested; /* @x and @y are columns of the table in this cell; NULL: of the row */
	const char *x, *x_end, *y;
	const char *label; /* in the legend; NULL: the title of column @y */
	enum svg_mark mark;
	unsigned int color; /* that of the series of this number, counted from 1; 0: its own */
};

struct svg_plot {
	const char *title;
	const char *x_label, *y_label; /* without units; NULL: title of the first series' column */
	bool x_log, y_log;
	const struct svg_series *series;
	size_t nr_series;
};

/*
 * Writes the plots one below the other. The unit of an axis is that of the first series' column,
 * scaled for people: as a whole, or tick by tick where the axis is logarithmic. A plot without any point says so instead of its axes. Returns 0,
 * -EINVAL when a key names nothing, -ENOMEM, or the stream's -errno; flushes.
 */
int svg_write(FILE *out, const struct report *report, const struct svg_plot *plots,
	      size_t nr_plots);

/* One axis: where a value goes, and where the ticks are. Values are in the column's unit. */
#define SVG_MAX_TICKS 16

struct svg_axis {
	bool log;
	double low, high;  /* ends of the axis */
	double at, length; /* pixels; negative length grows upwards */
	double scale;	   /* values are divided by it before they are written out */
	const char *unit;  /* "ms", "%", or "": then the ticks have theirs, or there is none */
	enum unit kind;
	double tick[SVG_MAX_TICKS];
	size_t nr_ticks;
	int decimals;
};

/* Widens @low … @high to round ends, and chooses the ticks and what they are counted in. */
void svg_axis_init(struct svg_axis *axis, enum unit unit, bool log, double low, double high);
double svg_axis_pixel(const struct svg_axis *axis, double value);
void svg_axis_label(const struct svg_axis *axis, double tick, char *buf, size_t size);
/* The lines and labels of a vertical axis between @left and @right. */
void svg_axis_rows(const struct svg_axis *axis, FILE *out, double left, double right);

#endif
