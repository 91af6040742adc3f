/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the reports of a wake window. */
#ifndef SUBTICK_PRESENT_WAKE_H
#define SUBTICK_PRESENT_WAKE_H

#include <stdbool.h>

#include "measure/wake/window.h"
#include "report/columns.h"

/* Maximum number of curves in a plot. */
#define WAKE_PLOT_CORES 8

extern const struct table_spec *const wake_tables[]; /* NULL-terminated list of all tables */

int wake_report(const struct wake_window *window, struct report **ret_report);
/*
 * Builds a report with a row for each measured wake-up. If @distribution is true, adds a
 * distribution of the latencies per core, or per source if there are several sources or more than
 * WAKE_PLOT_CORES cores. With --each-state, each idle state has a distribution, and the list
 * "boxes" has minimum, quartiles and maximum of each state.
 */
int wake_report_points(const struct wake_window *window, bool distribution,
		       struct report **ret_report);

void wake_findings(const struct wake_window *window, struct report *report);
/*
 * Formats a limit of the exit latency for the file pm_qos_resume_latency_us, in which 0 means no
 * limit and "n/a" means a limit of 0.
 */
const char *wake_limit_value(uint64_t limit_ns, char buf[24]);
/* Formats the latency limit (PM QoS) of one CPU as "FILE=VALUE" for `subtick try --set`. */
void wake_limit_setting(const struct wake_budget *budget, char *buf, size_t size);
/* Keys "machine.*" of JSON and CSV, filled from struct machine. */
extern const struct table_spec wake_machine_table;
void wake_notes(const struct wake_window *window, struct report *report);

#endif
