/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Points of several runs of `subtick wake`, such as on two machines, for one plot. */
#ifndef SUBTICK_VIEW_SVG_WAKE_RUNS_H
#define SUBTICK_VIEW_SVG_WAKE_RUNS_H

#include <stddef.h>

#include "report/report.h"
#include "view/svg/svg.h"

#define WAKE_MAX_RUNS 2 /* this run, and the one of --against */
#define WAKE_RUN_NAME 112

/* The column with the time in the deepest state that was counted: "c6_ns"; NULL without one. */
const char *wake_depth_key(const struct table *points);

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
