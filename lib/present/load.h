/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of a load window. */
#ifndef SUBTICK_PRESENT_LOAD_H
#define SUBTICK_PRESENT_LOAD_H

#include "measure/load/window.h"
#include "report/columns.h"

int load_report(const struct load_window *window, struct report **ret_report);
/* Fills a new report, which may belong to another command. */
void load_report_fill(const struct load_window *window, struct report *report);
/* Lists of the command, NULL-terminated. */
extern const struct table_spec *const load_tables[];
/* Lists that load shares with other commands. */
extern const struct table_spec load_fields_table, load_cpus_table, load_all_table,
	load_quality_table;
/* Quality keys of a struct load_losses. */
extern const struct table_spec load_losses_table;

/* Advice in a guest whose CPUs are stolen. */
#define STEAL_NEXT "on the hypervisor: subtick runq --per vm; the guest cannot change it"

/* Adds the findings of @window to @report. */
void load_findings(const struct load_window *window, struct report *report);

/*
 * Add the tables of physical cores, pairs of cgroups, interrupt lines and tasks. A table that was requested but is
 * unavailable becomes a note with the reason.
 */
extern const struct table_spec load_cores_table, load_pairs_table, load_irqs_table, load_tasks_table;
/* Notes that the source cannot measure @what. */
void load_note_unseen(const struct load_window *w, const char *what, struct report *report);
void load_report_cores(const struct load_window *w, struct report *report);
void load_report_pairs(const struct load_window *w, struct report *report);
void load_report_lines(const struct load_window *w, struct report *report);
void load_report_tasks(const struct load_window *w, struct report *report);

#endif
