/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plots of `subtick wake --plot`. */
#ifndef SUBTICK_VIEW_SVG_WAKE_H
#define SUBTICK_VIEW_SVG_WAKE_H

#include <stdio.h>

#include "report/report.h"

/*
 * Draws from the report that lists the points: latency and launch distance in the order of the
 * points, latency and residency by silent time, and the distribution. With @earlier, the points of
 * another run, latency and residency of both by silent time; else NULL. Returns as svg_write().
 */
int wake_plot(FILE *out, const struct report *points, const struct report *earlier);

#endif
