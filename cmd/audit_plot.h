/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plots of `subtick audit` as SVG files. */
#ifndef SUBTICK_CMD_AUDIT_PLOT_H
#define SUBTICK_CMD_AUDIT_PLOT_H

#include <stdio.h>

#include "report/report.h"
#include "view/svg/audit.h"

/* One file per experiment that has plots. */
struct audit_plots {
	FILE *file[AUDIT_NR_FIGURES];
};

/*
 * Opens @path for experiment @only, or one file per experiment if that is NULL: "x.svg" becomes
 * "x-ticks.svg" and so on. These functions print their errors and return 0 or -errno.
 */
int audit_plot_open(struct audit_plots *plots, const char *path, const char *only);
/* Draws the plots of @experiment if its file is open, and closes the file. */
int audit_plot_draw(struct audit_plots *plots, const char *experiment, const struct report *report);
void audit_plot_close(struct audit_plots *plots);

#endif
