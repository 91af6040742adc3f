/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings: sentences that lead from figures to a cause, sorted by lost time. */
#ifndef SUBTICK_REPORT_FINDINGS_H
#define SUBTICK_REPORT_FINDINGS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/columns.h"

#define FINDINGS_MAX 20 /* per report; a note reports that there were more */
#define FINDING_NAME 256
#define FINDING_TEXT 1024

/* Findings about figures of other tools, not about lost time; sorted after all others. */
#define CAUSE_ACCOUNTING "accounting"

struct finding_rule {
	const char *name;   /* JSON; never changes */
	const char *cause;  /* JSON: kind of culprit, such as "quota", "task", "softirq" */
	double least_ratio; /* minimum lost time per time */
	const char *next;   /* advice, unless the finding has a command or a setting */
};

struct finding {
	const struct finding_rule *rule;
	uint64_t lost_ns;
	uint32_t cpu;  /* UINT32_MAX: no CPU in particular */
	double share;  /* of the victim's waiting, or of the CPU's time; NAN: unknown */
	double p99_ns; /* of this cause alone; NAN: unknown */
	char victim[FINDING_NAME], culprit[FINDING_NAME]; /* "": none */
	const char *next;	    /* advice instead of the rule's; NULL: the rule's */
	char command[FINDING_TEXT]; /* shell command that mends it; "": none */
	char setting[FINDING_TEXT]; /* "PATH=VALUE": file to write, and the value; "": none */
	char only_if[FINDING_NAME]; /* condition for an effect of command or setting; "": none */
};

static inline struct finding finding_of(const struct finding_rule *rule, uint64_t lost_ns)
{
	return (struct finding){
		.rule = rule, .lost_ns = lost_ns, .cpu = UINT32_MAX, .share = NAN, .p99_ns = NAN};
}

/* The same as an expression whose address can be taken. */
#define FINDING(rule, lost_ns) (&(struct finding[]){finding_of(rule, lost_ns)}[0])

/* Formats into an array of a finding; "" if the text does not fit. */
#define finding_set(array, ...) finding_format(array, sizeof(array), __VA_ARGS__)
void finding_format(char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

extern const struct table_spec findings_table;
/* Adds the empty table, so that JSON always has the key. */
void findings_begin(struct report *report);
/* True if @lost_ns, a part of the report's window, reaches the rule's minimum. */
static inline bool findings_due(const struct report *report, const struct finding_rule *rule,
				uint64_t lost_ns)
{
	return report->window_ns &&
	       (double)lost_ns >= rule->least_ratio * (double)report->window_ns;
}
/*
 * Adds the finding if it is due. Call findings_due() before formatting names and figures: most of
 * thousands of groups have no finding.
 */
void findings_add(struct report *report, const struct finding *finding, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Columns are M_RULE, M_FINDING, M_LOST_NS, M_NEXT and more. NULL without findings or @report. */
const struct table *findings_of(const struct report *report);

/* "14 ms per second", or "on average 1.6 tasks wait" from one second per second on. */
const char *findings_rate(const struct report *report, uint64_t lost_ns, char *buf, size_t size);

#endif
