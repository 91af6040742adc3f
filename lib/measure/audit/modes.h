/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CPU time of a core in each mode (user, system, ...): true time, and time in /proc/stat. */
#ifndef SUBTICK_MEASURE_AUDIT_MODES_H
#define SUBTICK_MEASURE_AUDIT_MODES_H

#include "stats/load.h"
#include "host/procstat.h"

enum audit_mode {
	AUDIT_MODE_USER,
	AUDIT_MODE_NICE,
	AUDIT_MODE_SYSTEM,
	/* sum of user, nice and system time, which the reference source cannot separate */
	AUDIT_MODE_TASKS,
	AUDIT_MODE_IRQ,
	/* softirq time including ksoftirqd, as in the column softirq of /proc/stat */
	AUDIT_MODE_SOFTIRQ,
	AUDIT_MODE_STEAL,
	AUDIT_MODE_IDLE,
	AUDIT_MODE_IOWAIT,
	/* sum of idle and iowait time; idle time includes the idle loop and polling */
	AUDIT_MODE_ALL_IDLE,
	AUDIT_NR_MODES,
};

/* Time that a core spent in one mode. UINT64_MAX and NaN mean an unknown time. */
struct audit_level {
	uint64_t shown_ns, true_ns;
	/* shares of the total time of all modes; `error` is the shown share minus the true share */
	double shown, truth, error;
};

const char *audit_mode_name(enum audit_mode mode);

/* Computes the time of each mode that /proc/stat shows between two readings. */
void audit_modes_shown(const struct procstat_cpu *from, const struct procstat_cpu *to,
		       uint64_t unit_ns, struct audit_level levels[AUDIT_NR_MODES]);
/*
 * Sets the true time of each mode to the sum of the load parts of the mode that are in @parts (bit
 * mask of enum load_part), or to UINT64_MAX if there are none.
 */
void audit_modes_true(const struct load_cpu_window *window, uint32_t parts,
		      struct audit_level levels[AUDIT_NR_MODES]);
/*
 * Splits the true time of @whole between @part and @rest. @part_ns is the time of @part that the
 * load generator recorded, with interrupts. The true time of @part is at most the time of @whole.
 */
void audit_modes_split(enum audit_mode whole, enum audit_mode part, enum audit_mode rest,
		       uint64_t part_ns, struct audit_level levels[AUDIT_NR_MODES]);
void audit_modes_derive(struct audit_level levels[AUDIT_NR_MODES]);

/* Reader of the /proc/stat line of the audited core. */
struct audit_core {
	struct sys_text stat;
	struct procstat_cpu *cpus;
	unsigned int cpu;
};

int audit_core_open(struct audit_core *core, unsigned int cpu, struct err *err);
int audit_core_read(struct audit_core *core, struct procstat_cpu *ret_cpu, struct err *err);
/* May be called after audit_core_open() failed, and may be called twice. */
void audit_core_close(struct audit_core *core);

#endif
