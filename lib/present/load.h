/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of a load window. */
#ifndef SUBTICK_PRESENT_LOAD_H
#define SUBTICK_PRESENT_LOAD_H

#include "measure/load/window.h"
#include "report/columns.h"

int load_report(const struct load_window *window, struct report **ret_report);
/* Fills @report, which may be a report of another command. */
void load_report_fill(const struct load_window *window, struct report *report);
/* Tables of `subtick load`, as a NULL-terminated array. */
extern const struct table_spec *const load_tables[];
/* Tables that load shares with other commands. */
extern const struct table_spec load_fields_table, load_cpus_table, load_all_table,
	load_quality_table;
/* Loss counters of struct load_losses. */
extern const struct table_spec load_losses_table;

/* Advice for the user of a virtual machine with steal time. */
#define STEAL_NEXT "on the hypervisor: subtick runq --per vm; the guest cannot change it"

/* Adds the findings of @window to @report. */
void load_findings(const struct load_window *window, struct report *report);

extern const struct table_spec load_cores_table, load_pairs_table, load_irqs_table,
	load_tasks_table;
/* Adds a note that the source of load cannot measure @what. */
void load_note_unseen(const struct load_window *w, const char *what, struct report *report);
/* Adds the requested tables of cores, pairs of cgroups, interrupt lines and tasks, or notes. */
void load_report_who(const struct load_window *w, struct report *report);

#endif
