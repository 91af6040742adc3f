/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings: sentences that lead from figures to a cause, the most time lost first. */
#ifndef SUBTICK_REPORT_FINDINGS_H
#define SUBTICK_REPORT_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/columns.h"

#define FINDINGS_MAX 20 /* per report; a note says when there were more */

/* A rule: when its sentence is said, and the command that shows more. */
struct finding_rule {
	const char *name;   /* in JSON; does not change */
	double least_ratio; /* silent below this much time lost per time */
	const char *next;   /* the next command to run, or what to change */
};

extern const struct table_spec findings_table;
/* Adds the table, empty: JSON always has the key. */
void findings_begin(struct report *report);
/* Whether @lost_ns, a part of the report's window, is enough for the rule. */
static inline bool findings_due(const struct report *report, const struct finding_rule *rule,
				uint64_t lost_ns)
{
	return report->window_ns &&
	       (double)lost_ns >= rule->least_ratio * (double)report->window_ns;
}
/*
 * Adds the sentence to the report's findings if it is due. Ask findings_due() before making names
 * and figures for it: thousands of groups have nothing to say.
 */
void findings_add(struct report *report, const struct finding_rule *rule, uint64_t lost_ns,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Columns are M_RULE, M_FINDING, M_LOST_NS and M_NEXT. NULL without findings or without @report. */
const struct table *findings_of(const struct report *report);

/* "14 ms per second": how much time is lost while the window lasts. */
const char *findings_rate(const struct report *report, uint64_t lost_ns, char *buf, size_t size);

#endif
