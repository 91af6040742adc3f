/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plots of `subtick wake --plot`. */
#ifndef SUBTICK_VIEW_SVG_WAKE_H
#define SUBTICK_VIEW_SVG_WAKE_H

#include "view/svg/svg.h"

/*
 * Draws the plots of a report with points: latency and launch distance in the order of the points,
 * latency and residency by silent time, and the distribution. With --each-state also draws minimum,
 * quartiles and maximum of each state. @earlier: points of another run to compare latency and
 * residency with, or NULL. Returns as svg_write().
 */
int wake_plot(FILE *out, const struct report *points, const struct report *earlier);

/*
 * Key of the column with the residency of the deepest counted idle state, such as "c6_ns", or NULL.
 */
const char *wake_depth_key(const struct table *points);

#endif
