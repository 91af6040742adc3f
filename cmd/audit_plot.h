/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The figures of `subtick audit` as SVG files. */
#ifndef SUBTICK_CMD_AUDIT_PLOT_H
#define SUBTICK_CMD_AUDIT_PLOT_H

#include <stdio.h>

#include "report/report.h"
#include "view/svg/audit.h"

/* A file per experiment that has figures. */
struct audit_plots {
	FILE *file[AUDIT_NR_FIGURES];
};

/*
 * Opens the file at @path for experiment @only, or for each experiment one beside it: "x.svg"
 * makes "x-ticks.svg". Prints what goes wrong; 0 or -errno, as all of them.
 */
int audit_plot_open(struct audit_plots *plots, const char *path, const char *only);
/* Draws the figures of the report's experiment, if its file is open, and closes it. */
int audit_plot_draw(struct audit_plots *plots, const char *experiment, const struct report *report);
void audit_plot_close(struct audit_plots *plots);

#endif
