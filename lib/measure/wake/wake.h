/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `subtick wake` as a measurement: idle wake latency per core and idle state. */
#ifndef SUBTICK_MEASURE_WAKE_H
#define SUBTICK_MEASURE_WAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "measure/meter.h"
#include "measure/wake/force.h"
#include "measure/wake/nic.h"
#include "measure/wake/window.h"
#include "stats/wake.h"

struct wake_opts {
	const char *root;     /* another /sys, for tests; NULL: the machine's */
	struct cpuset cpus;   /* empty: all that are online */
	unsigned int sources; /* bit per enum wake_source; WAKE_PASSIVE only by itself */
	struct wake_sweep sweep;
	struct wake_force force;
	struct wake_nic_opts nic;
	bool breakdown;
	uint64_t budget_ns; /* for wake_window.budgets; 0: none */
	/* Passive and bare: the meter of load whose programs count, too, if they can; NULL: own programs. */
	struct meter *load;
	bool bare; /* passive: no calibration, so no load of our own; the overhead is not subtracted */
};

/*
 * How often the sweep runs: twice if source remote has no spare core for its sender, once per core
 * with source nic; for each idle state with --each-state.
 */
unsigned int wake_passes(const struct wake_opts *opts);
int wake_open(const struct wake_opts *opts, struct meter **ret_meter, struct err *err);

/*
 * For the sources with points: how many were tried, of how many, and whether all were. read()
 * ends the run early if not.
 */
struct wake_progress {
	uint64_t done, total;
	double time_ratio; /* of the time that all points take */
	bool finished;
};

void wake_progress(struct meter *meter, struct wake_progress *ret_progress);
/* The window that was read last, until the next read. */
const struct wake_window *wake_window(const struct meter *meter);
/* Restores changed settings, as close() does, and sets the window's unrestored. */
void wake_restore(struct meter *meter);

#endif
