/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of a load window. */
#ifndef SUBTICK_PRESENT_LOAD_H
#define SUBTICK_PRESENT_LOAD_H

#include "base/losses.h"
#include "measure/load/window.h"
#include "report/columns.h"

int load_report(const struct load_window *window, struct report **ret_report);
/*
 * Creates a report of @command with all tables of `subtick load`. @steal_lost is lost time ÷ stolen
 * time, above 1 if tasks also waited longer. Returns NULL if out of memory.
 */
struct report *load_report_begin(const char *command, const struct load_window *window,
				 double steal_lost);
/* Tables of `subtick load`, as a NULL-terminated array. */
extern const struct table_spec *const load_tables[];
/* Tables that `subtick load` shares with other commands. */
extern const struct table_spec load_fields_table, load_cpus_table, load_all_table,
	load_quality_table;
extern const struct table_spec load_losses_table;

/*
 * X(id, part): columns for the parts of a core's time, in the order of the stacked bars.
 * X_STEAL(id, part): the column of steal time, which traces lack.
 */
#define LOAD_PART_COLUMNS(X, X_STEAL)               \
	X(M_TASK_RATIO, TASK)                       \
	X(M_HARDIRQ_RATIO, HARDIRQ)                 \
	X(M_SOFTIRQ_ON_IDLE_RATIO, SOFTIRQ_ON_IDLE) \
	X(M_SOFTIRQ_ON_TASK_RATIO, SOFTIRQ_ON_TASK) \
	X(M_KSOFTIRQD_RATIO, KSOFTIRQD)             \
	X(M_IDLE_LOOP_RATIO, IDLE_LOOP)             \
	X_STEAL(M_STEAL_RATIO, STEAL)               \
	X(M_UNKNOWN_RATIO, UNKNOWN)                 \
	X(M_POLL_IDLE_RATIO, POLL_IDLE)             \
	X(M_IDLE_RATIO, IDLE)

/* Advice for the user of a virtual machine with steal time. */
#define STEAL_NEXT                                                                              \
	"run subtick runq --per vm on the hypervisor to see which VMs wait; no setting of the " \
	"guest prevents steal time"

/* True if the hypervisor stole enough time of the core for a finding. */
static inline bool load_is_stolen(const struct load_cpu_window *cpu)
{
	return load_part_ratio(cpu, LOAD_PART_STEAL) > LOAD_WRONG_RATIO;
}
void load_findings(const struct load_window *window, double steal_lost, struct report *report);

extern const struct table_spec load_cores_table, load_pairs_table, load_irqs_table,
	load_tasks_table;
/* Adds a note that the load source cannot measure @what. */
void load_note_unmeasured(const struct load_window *w, const char *what, struct report *report);
/* Adds the tables of --cores, --cgroups, --irq and --tasks, or notes why they are unavailable. */
void load_report_who(const struct load_window *w, struct report *report);

#endif
