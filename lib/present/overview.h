/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of an overview window. */
#ifndef SUBTICK_PRESENT_OVERVIEW_H
#define SUBTICK_PRESENT_OVERVIEW_H

#include "measure/overview/overview.h"
#include "report/columns.h"

extern const struct table_spec *const overview_tables[]; /* NULL-terminated list of all tables */

/*
 * Adds the findings about groups that wait. @window must contain a load window, and a runq window
 * with blame.
 */
void overview_wait_findings(const struct overview_window *window, struct report *report);
struct overview_steal;
void overview_findings(const struct overview_window *window, struct overview_steal *steal,
		       struct report *report);
int overview_report(const struct overview_window *window, struct report **ret_report);
/*
 * Builds the report of one meter of the overview, if its window is available. If @all_in_load is
 * true, the report of load also has the findings of wake and of the overview, for the live screen.
 * If @all_in_load is false, the report has only findings about the figures of meter @part. The
 * findings of a report may use the windows of all meters.
 */
int overview_part_report(const struct overview_window *window, enum overview_part part,
			 bool all_in_load, struct report **ret_report);

#endif
