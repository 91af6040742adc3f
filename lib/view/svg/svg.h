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
	SVG_BARS,    /* from @x to @x_end, or a thin bar at @x if that is NULL */
	SVG_BARS_LE, /* a histogram of cumulative counts: @x is the upper edge, inclusive */
};

/*
 * Which cells to draw, by keys of columns. Rows with a null in one of them are left out; on a
 * logarithmic axis so are values that are not positive.
 */
struct svg_series {
	const struct report *from; /* another report that has the table; NULL: the report */
	const char *table;  /* key of a table of the report */
	const char *where;  /* only rows whose column of this key is @equals; NULL: all rows */
	const char *equals; /* a string, or a decimal number */
	const char *x, *x_end, *y;
	const char *label; /* in the legend; NULL: the title of column @y */
	enum svg_mark mark;
	double times; /* draw the values of @y multiplied by this; 0: as they are */
};

struct svg_plot {
	const char *title;
	const char *x_label,
		*y_label; /* without unit; NULL: the title of the first series' column */
	bool x_log, y_log;
	const struct svg_series *series;
	size_t nr_series;
};

/*
 * Writes the plots one below the other. The unit of an axis is that of the first series' column,
 * scaled for people: the whole axis, or each tick of a logarithmic axis. A plot without data says
 * so. Returns 0, -EINVAL if there is no table or column of a key, -ENOMEM, or the stream's -errno;
 * flushes.
 */
int svg_write(FILE *out, const struct report *report, const struct svg_plot *plots,
	      size_t nr_plots);

/* One axis: maps values to pixels, and has the ticks. Values are in the column's unit. */
#define SVG_MAX_TICKS 16

struct svg_axis {
	bool log;
	double low, high;  /* ends of the axis */
	double at, length; /* pixels; negative length grows upwards */
	double scale;	   /* labels show the value divided by this */
	const char *unit;  /* "ms", "%", or "" if each tick has its own unit or there is none */
	enum unit kind;
	double tick[SVG_MAX_TICKS];
	size_t nr_ticks;
	int decimals;
};

/* Widens @low … @high to round numbers, and chooses the ticks and their unit. */
void svg_axis_init(struct svg_axis *axis, enum unit unit, bool log, double low, double high);
double svg_axis_pixel(const struct svg_axis *axis, double value);
void svg_axis_label(const struct svg_axis *axis, double tick, char *buf, size_t size);
/* Draws the grid lines and labels of a vertical axis between @left and @right. */
void svg_axis_rows(const struct svg_axis *axis, FILE *out, double left, double right);

#endif
