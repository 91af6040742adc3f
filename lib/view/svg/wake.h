/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plots of `subtick wake --plot`. */
#ifndef SUBTICK_VIEW_SVG_WAKE_H
#define SUBTICK_VIEW_SVG_WAKE_H

#include "view/svg/svg.h"

/*
 * Draws from the report that lists the points: latency and launch distance in the order of the
 * points, latency and residency by silent time, and the distribution. With @earlier, the points of
 * another run, latency and residency of both by silent time; else NULL. Returns as svg_write().
 */
int wake_plot(FILE *out, const struct report *points, const struct report *earlier);

#define WAKE_MAX_RUNS 2 /* this run, and the one of --against */
#define WAKE_RUN_NAME 112

/* The column with the time in the deepest state that was counted: "c6_ns"; NULL without one. */
const char *wake_depth_key(const struct table *points);

/* Points of several runs of `subtick wake`, such as on two machines, for one plot. */
struct wake_runs {
	struct report *report; /* table "runs": all valid points of all runs */
	char name[WAKE_MAX_RUNS][WAKE_RUN_NAME];
	char depth_label[WAKE_MAX_RUNS][WAKE_RUN_NAME + 16];
	size_t nr;
	bool depths; /* a run has a residency counter */
	struct svg_series latency[WAKE_MAX_RUNS], depth[WAKE_MAX_RUNS];
	struct svg_plot plots[2]; /* latency, and residency, against silent time */
	size_t nr_plots;
};

/* Takes at most WAKE_MAX_RUNS reports, and leaves out reports that are not points of wake. */
int wake_runs_make(struct wake_runs *runs, const struct report *const *reports, size_t nr_reports);
void wake_runs_free(struct wake_runs *runs);

#endif
