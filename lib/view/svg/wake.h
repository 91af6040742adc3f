/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plots of `subtick wake --plot`. */
#ifndef SUBTICK_VIEW_SVG_WAKE_H
#define SUBTICK_VIEW_SVG_WAKE_H

#include "view/svg/svg.h"

/*
 * Draws from the report that lists the points: latency and launch distance in the order of the
 * points, latency and residency by silent time, the distribution, and with --each-state minimum,
 * quartiles and maximum of each state. With @earlier, the points of another run, also latency and
 * residency of both runs by silent time; else NULL. Returns as svg_write().
 */
int wake_plot(FILE *out, const struct report *points, const struct report *earlier);

/* The column with the time in the deepest state that was counted: "c6_ns"; NULL without one. */
const char *wake_depth_key(const struct table *points);

#endif
