/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of a noise window. */
#ifndef SUBTICK_PRESENT_NOISE_H
#define SUBTICK_PRESENT_NOISE_H

#include "measure/overview/overview.h"
#include "report/columns.h"

extern const struct table_spec *const noise_tables[]; /* NULL-terminated list of all tables */

/*
 * Adds findings about sources that take much time of a core, and about delayed softirqs. @all has
 * the windows of all other meters for the same time span, or is NULL.
 */
void noise_findings(const struct noise_window *w, const struct overview_window *all,
		    struct report *report);
int noise_report(const struct noise_window *w, const struct overview_window *all,
		 struct report **ret_report);

#endif
