/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings: sentences that lead from figures to a cause, sorted by lost time. */
#ifndef SUBTICK_REPORT_FINDINGS_H
#define SUBTICK_REPORT_FINDINGS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/columns.h"

#define FINDINGS_MAX 20 /* per report; a note states that findings were omitted */
#define FINDING_NAME 256
#define FINDING_TEXT 1024

/*
 * Cause of findings about wrong figures in other tools. These findings sort after all findings
 * about lost time.
 */
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
	uint32_t cpu;  /* CPU number, or UINT32_MAX if the finding is not about one CPU */
	double share;  /* share of the victim's wait time or of the CPU's time, or NAN if unknown */
	double p99_ns; /* 99th percentile of waits with this cause, or NAN if unknown */
	char victim[FINDING_NAME], culprit[FINDING_NAME]; /* "" if unknown */
	const char *next;	    /* advice, or NULL for the advice of the rule */
	char command[FINDING_TEXT]; /* shell command that fixes the cause, or "" */
	char setting[FINDING_TEXT]; /* "PATH=VALUE": file to write and its new value, or "" */
	char only_if[FINDING_NAME]; /* condition for an effect of command or setting, or "" */
};

static inline struct finding finding_of(const struct finding_rule *rule, uint64_t lost_ns)
{
	return (struct finding){
		.rule = rule, .lost_ns = lost_ns, .cpu = UINT32_MAX, .share = NAN, .p99_ns = NAN};
}

/* finding_of() as a compound literal whose address can be taken. */
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
 * Adds the finding if findings_due() is true. Call findings_due() before formatting names and
 * figures, because most cgroups have no finding.
 */
void findings_add(struct report *report, const struct finding *finding, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Table of findings with the columns M_RULE, M_FINDING, M_LOST_NS, M_NEXT and more. NULL if @report
 * is NULL or has no findings.
 */
const struct table *findings_of(const struct report *report);

/*
 * Formats lost time per second: "14 ms per second", or "on average 1.6 tasks wait" from one second per
 * second on.
 */
const char *findings_rate(const struct report *report, uint64_t lost_ns, char *buf, size_t size);

#endif
