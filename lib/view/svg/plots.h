/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plots of `subtick audit`, by experiment, and of `subtick wake`. */
#ifndef SUBTICK_VIEW_SVG_PLOTS_H
#define SUBTICK_VIEW_SVG_PLOTS_H

#include "view/svg/svg.h"

#define AUDIT_MAX_PLOTS	 6

/* Plots of one experiment. */
struct audit_figures {
	const struct svg_plot *plots;
	size_t nr;
};

extern const struct audit_figures audit_figures_ticks, audit_figures_delays, audit_figures_sources;

/* A figure of the paper, which is drawn from the report of the experiment "ticks" or of --paper. */
struct audit_paper_figure {
	const char *number;
	bool of_ticks;
	const struct svg_plot *plots;
	size_t nr;
};

#define AUDIT_NR_PAPER_FIGURES 4

extern const struct audit_paper_figure audit_paper_figures[AUDIT_NR_PAPER_FIGURES];

/* Draws the plots of an experiment, with a curve for each timer slack. */
int audit_plot(FILE *out, const struct audit_figures *figures, const struct report *report);

/*
 * Draws the plots of `subtick wake --plot` from the measured wake-ups (points) of a run. @earlier
 * has the points of another run for comparison, or is NULL. Returns the result of svg_write().
 */
int wake_plot(FILE *out, const struct report *points, const struct report *earlier);

/* Key of the residency of the deepest counted idle state, such as "c6_ns", or NULL if none. */
const char *wake_depth_key(const struct table *points);

#endif
