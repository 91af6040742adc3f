/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the parts that draw plots. */
#ifndef SUBTICK_VIEW_SVG_TRACE_H
#define SUBTICK_VIEW_SVG_TRACE_H

#include "view/svg/svg.h"

struct svg_dot {
	double x, x_end, y;
};

/* The cells of one series as numbers. */
struct svg_trace {
	const struct svg_series *series;
	const char *label;
	struct svg_dot *dots;
	size_t nr;
};

struct svg_columns {
	const struct column *x, *y;
};

/* Fills the dots; sets @first to the columns unless an earlier series has set it. */
int svg_trace_init(struct svg_trace *trace, const struct svg_plot *plot, struct svg_columns *first,
		   const struct report *report);

/* Position and style of a series. */
struct svg_place {
	const struct svg_axis *x, *y;
	const char *color;
	bool shared; /* other series are in the same plot */
};

void svg_trace_draw(const struct svg_trace *trace, const struct svg_place *place, FILE *out);
bool svg_is_bars(const struct svg_series *series);

#endif
