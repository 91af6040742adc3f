/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of load levels by mode. */
#ifndef SUBTICK_MEASURE_AUDIT_MODES_REPORT_H
#define SUBTICK_MEASURE_AUDIT_MODES_REPORT_H

#include "measure/audit/modes.h"
#include "report/report.h"

/* Whose levels they are: those of a load, or of a delay. */
struct audit_modes_of {
	const char *load; /* NULL: of a delay */
	uint64_t delay_ns, slack_ns;
};

void audit_modes_columns(struct table *table, bool by_load);
void audit_modes_rows(struct table *table, const struct audit_modes_of *of,
		      const struct audit_level levels[AUDIT_NR_MODES]);

#endif
