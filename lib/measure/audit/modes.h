/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Load level of each mode (user, system, ...), as shown by /proc/stat and as truly spent. */
#ifndef SUBTICK_MEASURE_AUDIT_MODES_H
#define SUBTICK_MEASURE_AUDIT_MODES_H

#include "stats/load.h"
#include "host/procstat.h"

enum audit_mode {
	AUDIT_MODE_USER,
	AUDIT_MODE_NICE,
	AUDIT_MODE_SYSTEM,
	/* sum of user, nice and system time; the reference source cannot separate them */
	AUDIT_MODE_TASKS,
	AUDIT_MODE_IRQ,
	/* softirq time including ksoftirqd, like the column softirq of /proc/stat */
	AUDIT_MODE_SOFTIRQ,
	AUDIT_MODE_STEAL,
	AUDIT_MODE_IDLE,
	AUDIT_MODE_IOWAIT,
	/* sum of idle and iowait time; like in /proc/stat it includes the idle loop and polling */
	AUDIT_MODE_ALL_IDLE,
	AUDIT_NR_MODES,
};

/* Time that a core spent in one mode. An unknown time is UINT64_MAX or NaN. */
struct audit_level {
	uint64_t shown_ns, true_ns;
	/* shares of the time of all modes; the error is the shown share minus the true share */
	double shown, truth, error;
};

const char *audit_mode_name(enum audit_mode mode);

/* Computes the shown time of each mode from two readings of /proc/stat. */
void audit_modes_shown(const struct procstat_cpu *from, const struct procstat_cpu *to,
		       uint64_t unit_ns, struct audit_level levels[AUDIT_NR_MODES]);
/*
 * Sets the true time of each mode whose load parts are all in @parts. The true time of other modes
 * stays unknown.
 */
void audit_modes_true(const struct load_cpu_window *window, uint32_t parts,
		      struct audit_level levels[AUDIT_NR_MODES]);
/*
 * Splits the true task time into system time and the time of @mode (user or nice), for a load that
 * recorded its own CPU time @burn_ns.
 */
void audit_modes_true_burn(enum audit_mode mode, uint64_t burn_ns,
			   struct audit_level levels[AUDIT_NR_MODES]);
/*
 * Splits the true idle time into idle and iowait, for a load that recorded how long it was blocked.
 */
void audit_modes_true_iowait(uint64_t blocked_ns, struct audit_level levels[AUDIT_NR_MODES]);
void audit_modes_derive(struct audit_level levels[AUDIT_NR_MODES]);

/* Reader of the audited core's line in /proc/stat. */
struct audit_core {
	struct procstat stat;
	struct procstat_cpu *cpus;
	unsigned int cpu;
};

int audit_core_open(struct audit_core *core, unsigned int cpu, struct err *err);
int audit_core_read(struct audit_core *core, struct procstat_cpu *ret_cpu, struct err *err);
/* May be called after a failed open. A second call does nothing. */
void audit_core_close(struct audit_core *core);

#endif
