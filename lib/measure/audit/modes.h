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
	AUDIT_MODE_TASKS, /* sum of user, nice and system, which the reference cannot separate */
	AUDIT_MODE_IRQ,
	AUDIT_MODE_SOFTIRQ, /* including ksoftirqd, as in the kernel's column */
	AUDIT_MODE_STEAL,
	AUDIT_MODE_IDLE,
	AUDIT_MODE_IOWAIT,
	/* Idle and iowait, including the idle loop and polling, as in the kernel's columns. */
	AUDIT_MODE_ALL_IDLE,
	AUDIT_NR_MODES,
};

/* Time in one mode. UINT64_MAX and NaN mean unknown. */
struct audit_level {
	uint64_t shown_ns, true_ns;
	/* Derived: share of the sum of all modes, the paper's definition of a load level. */
	double shown, truth, error;
};

const char *audit_mode_name(enum audit_mode mode);

/* Fills the shown time from the columns of two readings. */
void audit_modes_shown(const struct procstat_cpu *from, const struct procstat_cpu *to,
		       uint64_t unit_ns, struct audit_level levels[AUDIT_NR_MODES]);
/* Fills the true time of the modes that consist of @parts. Other modes stay unknown. */
void audit_modes_true(const struct load_cpu_window *window, uint32_t parts,
		      struct audit_level levels[AUDIT_NR_MODES]);
/* Splits the true time of a load that recorded its time in @mode, user or nice. */
void audit_modes_true_burn(enum audit_mode mode, uint64_t burn_ns,
			   struct audit_level levels[AUDIT_NR_MODES]);
/* Splits the true idle time of a load that recorded its blocked time in I/O. */
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
/* Safe after a failed open, and twice. */
void audit_core_close(struct audit_core *core);

#endif
