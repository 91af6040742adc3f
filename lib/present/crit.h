/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of `subtick crit`. */
#ifndef SUBTICK_PRESENT_CRIT_H
#define SUBTICK_PRESENT_CRIT_H

#include "measure/crit/crit.h"
#include "report/columns.h"

extern const struct table_spec *const crit_tables[]; /* NULL-terminated list of all tables */

/*
 * A figure is the median over the rounds, except "max", the maximum over all rounds. If @trace is
 * not NULL, @result must be &trace->off_before.
 */
int crit_report(const struct crit_engine *engine, const struct crit_opts *opts,
		const struct crit_result *result, const struct crit_trace *trace,
		struct report **ret_report);

#endif
