/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of a load window. */
#ifndef SUBTICK_PRESENT_LOAD_H
#define SUBTICK_PRESENT_LOAD_H

#include "measure/load/window.h"
#include "report/report.h"

int load_report(const struct load_window *window, struct report **ret_report);
/* Fills a new report, which may belong to another command. */
void load_report_fill(const struct load_window *window, struct report *report);
/* Adds the losses of a load source to the quality keys of @report. */
void load_report_losses(const struct load_losses *losses, struct report *report);

/* Adds the findings of @window to @report. */
void load_findings(const struct load_window *window, struct report *report);

/*
 * Add the table of interrupt lines and the table of tasks. A table that was requested but is
 * unavailable becomes a note with the reason.
 */
void load_report_lines(const struct load_window *w, struct report *report);
void load_report_tasks(const struct load_window *w, struct report *report);

#endif
