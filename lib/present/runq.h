/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of a runq window. */
#ifndef SUBTICK_PRESENT_RUNQ_H
#define SUBTICK_PRESENT_RUNQ_H

#include "measure/overview/overview.h"
#include "report/columns.h"

extern const struct table_spec *const runq_tables[]; /* NULL-terminated */

/* @all: windows measured beside @window, for findings that need them; or NULL. */
int runq_report(const struct runq_window *window, const struct overview_window *all,
		struct report **ret_report);
/* Report of window->long_waits alone. *ret_report is NULL if there are none. */
int runq_report_waits(const struct runq_window *window, struct report **ret_report);

/* Adds the findings of @window to @report; @groups: also those about single groups. */
void runq_findings(const struct runq_window *window, bool groups, struct report *report);

/* Waits of the group for cores that began with a wake-up, if their cause is known. */
uint64_t runq_woken_ns(const struct runq_group_window *group);
/* Share of the group's waits for cores that began with a wake-up; 0 without waits. */
double runq_delayed(const struct runq_group_window *group);
/* Waits of the group for idle cores, without waits whose idle state has a finding of its own. */
uint64_t runq_idle_exit_ns(const struct runq_window *window, const struct runq_group_window *group);
/* p99 of a cause with @wait_ns of the group's waiting: NAN unless this cause made almost all of it. */
double runq_p99(const struct runq_window *window, const struct runq_group_window *group,
		uint64_t wait_ns);
/* Explains waiting without a known cause, if that is 10 % or more of a group with much waiting. */
void runq_note_unknown(const struct runq_window *window, struct report *report);
/* Names the sched_ext scheduler of the window, and adds notes about its effect; nothing without one. */
extern const struct table_spec runq_scheduler_table;
void runq_report_scheduler(const struct runq_window *window, struct report *report);
/* Quality of the waits: losses, comparison with the kernel, memory. */
extern const struct table_spec runq_quality_table, runq_losses_table;
void runq_report_quality(const struct runq_window *window, struct report *report);

extern const struct table_spec runq_idle_table, runq_idle_losses_table, runq_pressure_table,
	runq_pressure_losses_table, runq_avoidable_losses_table;
/* Adds the table of waits per idle state. */
void runq_report_idle(const struct runq_window *window, struct report *report);
/* Adds a note that names the idle state with the longest waits, if its driver states a latency. */
void runq_report_advice(const struct runq_window *window, struct report *report);

/* Adds findings about waits while another core was idle. */
void runq_avoidable_findings(const struct runq_window *window, struct report *report);
/* Adds the losses, and a note if the bounds of the avoidable time differ. */
void runq_report_avoidable(const struct runq_window *window, struct report *report);

/* Adds the pressure table. */
void runq_report_pressure(const struct runq_window *window, struct report *report);
/* Adds notes about pressure figures that are missing, with the reason. */
void runq_report_pressure_notes(const struct runq_window *window, struct report *report);

#endif
