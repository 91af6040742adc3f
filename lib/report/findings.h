/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings: sentences that name the cause of lost time, sorted by lost time. */
#ifndef SUBTICK_REPORT_FINDINGS_H
#define SUBTICK_REPORT_FINDINGS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/columns.h"

#define FINDINGS_MAX 20 /* maximum number of findings per report */
#define FINDING_NAME 256
#define FINDING_TEXT 1024

/*
 * Findings with this cause report wrong figures of other tools, and are sorted after all findings
 * about lost time.
 */
#define CAUSE_ACCOUNTING "accounting"

struct finding_rule {
	const char *name;   /* name of the cause in JSON, which must never change */
	const char *cause;  /* kind of the culprit in JSON, such as "quota", "task" or "softirq" */
	double least_ratio; /* minimum lost time of a finding ÷ window length */
	const char *next;   /* advice for findings with neither command nor setting */
};

struct finding {
	const struct finding_rule *rule;
	uint64_t lost_ns;
	/*
	 * The victim has a low priority and is usually meant to wait, so findings_add() reduces
	 * lost_ns.
	 */
	bool meant;
	uint32_t cpu;  /* CPU number, or UINT32_MAX if the finding is not about one CPU */
	double share;  /* share of the victim's wait or run time, or of CPU time; NAN if unknown */
	/*
	 * 99th percentile of the waits, delays or interruptions of the finding, or NAN if unknown
	 */
	double p99_ns;
	/* names of victim and culprit; "" if unknown */
	char victim[FINDING_NAME], culprit[FINDING_NAME];
	const char *next;	    /* advice; NULL selects the advice of the rule */
	char command[FINDING_TEXT]; /* shell command that fixes the cause, or "" */
	/* "PATH=VALUE" with the file to write and its new value, or "" */
	char setting[FINDING_TEXT];
	/* condition under which the command or the setting has an effect, or "" */
	char only_if[FINDING_NAME];
};

static inline struct finding finding_of(const struct finding_rule *rule, uint64_t lost_ns)
{
	return (struct finding){
		.rule = rule, .lost_ns = lost_ns, .cpu = UINT32_MAX, .share = NAN, .p99_ns = NAN};
}

/* Address of a new finding with automatic storage duration. */
#define FINDING(rule, lost_ns) (&(struct finding[]){finding_of(rule, lost_ns)}[0])

/*
 * Formats text into a member of a finding. If the text is too long for the member, the member
 * becomes "".
 */
#define finding_set(array, ...) finding_format(array, sizeof(array), __VA_ARGS__)
void finding_format(char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Appends a command that writes the setting "PATH=VALUE", with names quoted for the shell. Returns
 * false if the text does not fit, or if @setting is "".
 */
bool finding_add_setting(char command[FINDING_TEXT], const char *setting);

extern const struct table_spec findings_table;
/* Adds an empty table of findings, so that the JSON report always has the key "findings". */
void findings_begin(struct report *report);
/* True if the lost time in the window of the report reaches the minimum of the rule. */
static inline bool findings_due(const struct report *report, const struct finding_rule *rule,
				uint64_t lost_ns)
{
	return report->window_ns &&
	       (double)lost_ns >= rule->least_ratio * (double)report->window_ns;
}
/*
 * Adds @finding to @report if findings_due() is true for its lost time, after the reduction for a
 * victim that is meant to wait. Most cgroups have no finding, so callers should check
 * findings_due() before they format names.
 */
void findings_add(struct report *report, const struct finding *finding, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Returns the table of findings, or NULL if @report is NULL or has no findings. */
const struct table *findings_of(const struct report *report);

/* Formats lost time per second: "14 ms per second", or from 1 s "on average 1.6 tasks wait". */
const char *findings_rate(const struct report *report, uint64_t lost_ns, char *buf, size_t size);

#endif
