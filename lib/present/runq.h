/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of a runq window. */
#ifndef SUBTICK_PRESENT_RUNQ_H
#define SUBTICK_PRESENT_RUNQ_H

#include "measure/overview/overview.h"
#include "report/columns.h"
#include "report/findings.h"

/* Columns with the causes of waits: X(id, cause). */
#define RUNQ_CAUSE_COLUMNS(X)                   \
	X(M_CAUSE_IDLE_NS, RUNQ_IDLE)           \
	X(M_CAUSE_SAME_NS, RUNQ_SAME)           \
	X(M_CAUSE_OTHER_NS, RUNQ_OTHER)         \
	X(M_CAUSE_KTHREAD_NS, RUNQ_KTHREAD)     \
	X(M_CAUSE_PREEMPTED_NS, RUNQ_PREEMPTED) \
	X(M_CAUSE_THROTTLED_NS, RUNQ_THROTTLED) \
	X(M_CAUSE_MIGRATED_NS, RUNQ_MIGRATED)   \
	X(M_CAUSE_UNKNOWN_NS, RUNQ_UNKNOWN)

extern const struct table_spec *const runq_tables[]; /* NULL-terminated list of all tables */

/* @all has the windows of all meters for findings that combine several meters, or is NULL. */
int runq_report(const struct runq_window *window, const struct overview_window *all,
		struct report **ret_report);
/* Builds a report of window->long_waits only. If @window has no long waits, *ret_report is NULL. */
int runq_report_waits(const struct runq_window *window, struct report **ret_report);

/* Adds the findings of @window. If @groups is false, adds no findings about single groups. */
void runq_findings(const struct runq_window *window, bool groups, struct report *report);

/*
 * Name of a group that waits for its CPU quota, in a finding: "VM web", or "VM web (@name)" for a
 * cgroup of a VM, or @name.
 */
const char *runq_quota_name(const struct runq_group *group, const char *name,
			    char buf[FINDING_TEXT]);

/* Time that the group waited after wake-ups. Only waits with a known cause count. */
uint64_t runq_woken_ns(const struct runq_group_window *group);
/* Share of the group's waits that began with a wake-up; 0 if the group has no waits. */
double runq_delayed(const struct runq_group_window *group);
/*
 * Time in ns that @group waited for cores to leave idle states, except idle states with a separate
 * finding.
 */
uint64_t runq_idle_exit_ns(const struct runq_window *window, const struct runq_group_window *group);
/* p99 of the group's waits if @wait_ns is almost all of the group's wait time; otherwise NAN. */
double runq_p99(const struct runq_window *window, const struct runq_group_window *group,
		uint64_t wait_ns);
/* Adds a note if 10 % or more of a group's wait time has no known cause. */
void runq_note_unknown(const struct runq_window *window, struct report *report);
extern const struct table_spec runq_scheduler_table;
void runq_report_scheduler(const struct runq_window *window, struct report *report);
/* Adds losses, the comparison with the kernel's figures, and the kernel memory in use. */
extern const struct table_spec runq_quality_table;
void runq_report_quality(const struct runq_window *window, struct report *report);

extern const struct table_spec runq_idle_table, runq_pressure_table;
void runq_report_idle(const struct runq_window *window, struct report *report);
void runq_report_advice(const struct runq_window *window, struct report *report);

void runq_avoidable_findings(const struct runq_window *window, struct report *report);
/* Adds a note if the bounds of avoidable wait time differ. */
void runq_report_avoidable(const struct runq_window *window, struct report *report);

void runq_report_pressure(const struct runq_window *window, struct report *report);
void runq_report_pressure_notes(const struct runq_window *window, struct report *report);

#endif
