/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of an overview window. */
#ifndef SUBTICK_PRESENT_OVERVIEW_H
#define SUBTICK_PRESENT_OVERVIEW_H

#include "measure/overview/overview.h"
#include "report/columns.h"

extern const struct table_spec *const overview_tables[]; /* NULL-terminated */

/* Adds the findings of @window to @report. */
void overview_findings(const struct overview_window *window, struct report *report);
int overview_report(const struct overview_window *window, struct report **ret_report);
/*
 * Report of a part that is available, for the live screen. That of load has the findings of the
 * overview and of wake.
 */
int overview_part_report(const struct overview_window *window, enum overview_part part,
			 struct report **ret_report);

#endif
