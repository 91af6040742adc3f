/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Load levels by mode: time shown by /proc/stat, and true time. */
#ifndef SUBTICK_MEASURE_AUDIT_MODES_H
#define SUBTICK_MEASURE_AUDIT_MODES_H

#include "stats/load.h"
#include "host/procstat.h"

enum audit_mode {
	AUDIT_MODE_USER,
	AUDIT_MODE_NICE,
	AUDIT_MODE_SYSTEM,
	/* Sum of user, nice and system time, which the reference source cannot separate. */
	AUDIT_MODE_TASKS,
	AUDIT_MODE_IRQ,
	/* Softirq time including ksoftirqd, like the column softirq of /proc/stat. */
	AUDIT_MODE_SOFTIRQ,
	AUDIT_MODE_STEAL,
	AUDIT_MODE_IDLE,
	AUDIT_MODE_IOWAIT,
	/*
	 * Sum of idle and iowait time, including the idle loop and polling, like the columns of
	 * /proc/stat.
	 */
	AUDIT_MODE_ALL_IDLE,
	AUDIT_NR_MODES,
};

/*
 * Time that a core spent in one mode. The values UINT64_MAX and NaN mean that the time is unknown.
 */
struct audit_level {
	uint64_t shown_ns, true_ns;
	/* Load level: share of the sum of all modes. */
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
 * Splits the true task time into @mode (user or nice) and system, for a load that recorded its time
 * in @mode.
 */
void audit_modes_true_burn(enum audit_mode mode, uint64_t burn_ns,
			   struct audit_level levels[AUDIT_NR_MODES]);
/* Splits the true idle time into idle and iowait, for a load that recorded its blocked time. */
void audit_modes_true_iowait(uint64_t blocked_ns, struct audit_level levels[AUDIT_NR_MODES]);
void audit_modes_derive(struct audit_level levels[AUDIT_NR_MODES]);

/* Line of the audited core in /proc/stat. */
struct audit_core {
	struct procstat stat;
	struct procstat_cpu *cpus;
	unsigned int cpu;
};

int audit_core_open(struct audit_core *core, unsigned int cpu, struct err *err);
int audit_core_read(struct audit_core *core, struct procstat_cpu *ret_cpu, struct err *err);
/* May be called after a failed open, and twice. */
void audit_core_close(struct audit_core *core);

#endif
