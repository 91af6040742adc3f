/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws tables of a report as an SVG file: points, lines and histograms on labelled axes. */
#ifndef SUBTICK_VIEW_SVG_H
#define SUBTICK_VIEW_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/report.h"

enum svg_mark {
	SVG_POINTS,
	SVG_LINE,    /* points joined by lines in the order of the rows */
	SVG_BARS,    /* bars from @x to @x_end; if @x_end is NULL, thin bars at @x */
	SVG_BARS_LE, /* histogram of cumulative counts: @x is the inclusive upper bound */
};

/*
 * One series of a plot. Rows with a null cell are skipped, and on a logarithmic axis also rows with
 * values of 0 or less.
 */
struct svg_series {
	/* report that contains the table, or NULL for the report of the plot */
	const struct report *from;
	const char *table;	   /* key of a table of the report */
	/* Draws only rows whose value in column @where equals @equals. NULL: draws all rows. */
	const char *where;
	const char *equals; /* required value of column @where: text, or a decimal number */
	/*
	 * The series has one curve for each value of the column @split, or a single curve if @split
	 * is NULL. The values are from the table @split_in, or from @table if @split_in is NULL.
	 */
	const char *split, *split_in;
	bool first_only; /* true if only the curve of the first value of @split is drawn */
	const char *x, *x_end, *y;
	const char *label; /* text in the legend, or NULL for the title of column @y */
	enum svg_mark mark;
	/* factor by which the values of @y are multiplied, or 0 for unscaled values */
	double times;
};

struct svg_plot {
	const char *title;
	/* Axis labels without unit. A NULL label becomes the column title of the first series. */
	const char *x_label, *y_label;
	bool x_log, y_log;
	const struct svg_series *series;
	size_t nr_series;
};

/*
 * Writes all plots below each other and flushes the stream. An axis has the unit of the first
 * series. A plot without data contains a message. Returns 0, -EINVAL if a table or column is
 * missing, -ENOMEM, or the -errno of the stream.
 */
int svg_write(FILE *out, const struct report *report, const struct svg_plot *plots,
	      size_t nr_plots);

/* Maximum number of ticks on an axis. */
#define SVG_MAX_TICKS 16

/* Axis of a plot. The axis maps values in the unit of a column to pixels. */
struct svg_axis {
	bool log;
	double low, high;  /* values at the ends of the axis */
	double at, length; /* axis start and length in pixels; a negative length points upwards */
	double scale;	   /* divisor that converts a value to the unit of the labels */
	/* unit of the labels, such as "ms"; "" if there is no unit or each label contains a unit */
	const char *unit;
	enum unit kind;
	double tick[SVG_MAX_TICKS];
	size_t nr_ticks;
	int decimals;
};

/* Widens @low … @high to round numbers, and chooses the ticks and their unit. */
void svg_axis_init(struct svg_axis *axis, enum unit unit, bool log, double low, double high);
double svg_axis_pixel(const struct svg_axis *axis, double value);
void svg_axis_label(const struct svg_axis *axis, double tick, char *buf, size_t size);

#define SVG_MAX_CURVES 64 /* maximum number of values of svg_series.split */

/*
 * Stores in @rows the first row of each different value in column @col, at most @max rows. Returns
 * the number of stored rows, or 0 if @col is negative.
 */
size_t svg_values(const struct table *table, int col, size_t *rows, size_t max);

struct svg_dot {
	double x, x_end, y;
};

/* Data points of a curve, and the axes and style of its plot. */
struct svg_trace {
	const struct svg_series *series;
	/* draws only rows with this value in column series->split; NULL: draws all rows */
	const struct value *only;
	char label[160];
	struct svg_dot *dots;
	size_t nr;
	const struct svg_axis *x, *y;
	const char *color;
};

struct svg_columns {
	const struct column *x, *y;
};

/* Reads the data points of a curve. Sets @first to the columns of the plot's first series. */
int svg_trace_init(struct svg_trace *trace, const struct svg_plot *plot, struct svg_columns *first,
		   const struct report *report);
/* @shared is true if the plot has several curves. */
void svg_trace_draw(const struct svg_trace *trace, bool shared, FILE *out);

static inline bool svg_is_bars(const struct svg_series *series)
{
	return series->mark == SVG_BARS || series->mark == SVG_BARS_LE;
}

#endif
