/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The figures of `subtick audit` as SVG files. */
#ifndef SUBTICK_CMD_AUDIT_PLOT_H
#define SUBTICK_CMD_AUDIT_PLOT_H

#include <stdio.h>

#include "report/report.h"

/* "x.svg" and "ticks" make "x-ticks.svg". */
int audit_plot_path(const char *path, const char *experiment, char *buf, size_t size);
/* Draws the figures of the report's experiment. */
int audit_plot(FILE *out, const char *experiment, const struct report *report);

#endif
