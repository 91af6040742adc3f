/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measurement of `subtick wake`: latency of wake-ups from idle, per core and idle state. */
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
	const char *root;     /* directory with another /sys for tests, or NULL */
	struct cpuset cpus;   /* CPUs to measure; empty for all online CPUs */
	/* Bit mask of enum wake_source. WAKE_PASSIVE cannot be combined with another source. */
	unsigned int sources;
	struct wake_sweep sweep;
	struct wake_force force;
	struct wake_nic_opts nic;
	bool breakdown;
	uint64_t budget_ns; /* latency budget for wake_window.budgets, or 0 */
	/* load measurement whose BPF programs can also count passive wake-ups, or NULL */
	struct meter *load;
	/* for source passive: skip the calibration, which would keep the cores busy */
	bool bare;
};

/*
 * Number of sweeps over all launch distances in all rounds, for an estimate of the run time. A
 * round has one sweep, one sweep per core with source nic, or two sweeps with source remote if no
 * spare core is left for the sender.
 */
unsigned int wake_passes(const struct wake_opts *opts);
int wake_open(const struct wake_opts *opts, struct meter **ret_meter, struct err *err);

/*
 * Progress of a run that measures single wake-ups. done: number of attempted wake-ups. total:
 * number of planned wake-ups. A call of meter_ops.read() before the end of the run stops the run.
 */
struct wake_progress {
	uint64_t done, total;
	double time_ratio; /* elapsed share of the estimated run time */
	bool finished;
};

void wake_progress(struct meter *meter, struct wake_progress *ret_progress);
/* Returns the last window, which is valid until the next read(). */
const struct wake_window *wake_window(const struct meter *meter);
/*
 * Restores the changed settings and sets wake_window.unrestored. Callers may call wake_restore()
 * before close().
 */
void wake_restore(struct meter *meter);

#endif
