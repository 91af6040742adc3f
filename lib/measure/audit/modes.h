/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Load levels by mode: what the columns of /proc/stat show, and what is true. */
#ifndef SUBTICK_MEASURE_AUDIT_MODES_H
#define SUBTICK_MEASURE_AUDIT_MODES_H

#include "stats/load.h"
#include "host/procstat.h"

enum audit_mode {
	AUDIT_MODE_USER,
	AUDIT_MODE_NICE,
	AUDIT_MODE_SYSTEM,
	/* Sum of the three above, whose parts the reference source cannot separate. */
	AUDIT_MODE_TASKS,
	AUDIT_MODE_IRQ,
	AUDIT_MODE_SOFTIRQ, /* with ksoftirqd, which the kernel counts here as well */
	AUDIT_MODE_STEAL,
	AUDIT_MODE_IDLE,
	AUDIT_MODE_IOWAIT,
	/* Idle and iowait, including the idle loop and polling, as the kernel counts them. */
	AUDIT_MODE_ALL_IDLE,
	AUDIT_NR_MODES,
};

/* Time in one mode. UINT64_MAX and NaN mean unknown. */
struct audit_level {
	uint64_t shown_ns, true_ns;
	/* Derived: each time ÷ the sum of all modes, as the paper defines a load level. */
	double shown, truth, error;
};

const char *audit_mode_name(enum audit_mode mode);

/* The columns between two readings. */
void audit_modes_shown(const struct procstat_cpu *from, const struct procstat_cpu *to,
		       uint64_t unit_ns, struct audit_level levels[AUDIT_NR_MODES]);
/* Fills the true time from a window of a source that knows @parts. Other modes stay unknown. */
void audit_modes_true(const struct load_cpu_window *window, uint32_t parts,
		      struct audit_level levels[AUDIT_NR_MODES]);
/* For loads that record their time in user mode. @mode: user, or nice for a task with a nice value. */
void audit_modes_true_burn(enum audit_mode mode, uint64_t burn_ns,
			   struct audit_level levels[AUDIT_NR_MODES]);
/* For a load that records how long it was blocked in I/O: iowait is the idle part of that time. */
void audit_modes_true_iowait(uint64_t blocked_ns, struct audit_level levels[AUDIT_NR_MODES]);
void audit_modes_derive(struct audit_level levels[AUDIT_NR_MODES]);

/* The audited core's line of /proc/stat. */
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
