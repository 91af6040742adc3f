/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the reports of a wake window. */
#ifndef SUBTICK_PRESENT_WAKE_H
#define SUBTICK_PRESENT_WAKE_H

#include <stdbool.h>

#include "measure/wake/window.h"
#include "report/report.h"

/* A plot with more curves than this is unreadable. */
#define WAKE_PLOT_CORES 8

int wake_report(const struct wake_window *window, struct report **ret_report);
/*
 * Report of every point, for --points and --plot. @distribution adds the distribution of the
 * latencies, one per core. With several sources or more than WAKE_PLOT_CORES cores it is one
 * distribution over all cores, and its cpu is null.
 */
int wake_report_points(const struct wake_window *window, bool distribution,
		       struct report **ret_report);

/* Adds the findings of @window to @report. */
void wake_findings(const struct wake_window *window, struct report *report);
/* Adds the keys machine.*: in JSON and CSV, not in text. */
void wake_report_machine(const struct wake_machine *machine, struct report *report);
/* Adds the notes of @window to @report. */
void wake_notes(const struct wake_window *window, struct report *report);

#endif
