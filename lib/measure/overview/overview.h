/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures load, runq, noise and passive wake-ups in one window. Lists the tasks with the most CPU
 * time, and reads the settings of cgroups.
 */
#ifndef SUBTICK_MEASURE_OVERVIEW_H
#define SUBTICK_MEASURE_OVERVIEW_H

#include "measure/load/window.h"
#include "measure/meter.h"
#include "measure/noise/window.h"
#include "measure/overview/settings.h"
#include "measure/overview/suspects.h"
#include "measure/runq/window.h"
#include "measure/wake/window.h"

#define OVERVIEW_CGROUPS 32
/* The settings of a cgroup are read only if it waits for at least this share of the window. */
#define OVERVIEW_LEAST 0.01

enum overview_part {
	OVERVIEW_LOAD, /* without the load measurement the overview fails */
	OVERVIEW_RUNQ,
	OVERVIEW_WAKE,
	OVERVIEW_NOISE,
	OVERVIEW_NR_PARTS,
};

struct overview_opts {
	/*
	 * Number of tasks to list per CPU. If `top` is 0, the overview lists one task per CPU,
	 * omits softirq vectors, and measures p99 as the only percentile.
	 */
	uint32_t top;
	bool pressure;
	/*
	 * Measure which cgroups share a physical core. On machines without hyperthreads
	 * overview_open() fails with err->unsupported.
	 */
	bool cores;
};

/* Results of all measurements of the overview for one window, valid until the next read. */
struct overview_window {
	const struct load_window *load;
	/* The result of an unavailable measurement is NULL, and `errs` contains the reason. */
	const struct runq_window *runq;
	const struct wake_window *wake;
	const struct noise_window *noise;
	/* reason why each measurement is unavailable; code 0 if the measurement is available */
	struct err errs[OVERVIEW_NR_PARTS];
	/* CPUs that are present but offline, except hyperthreads that the administrator disabled */
	struct cpuset offline;
	struct settings_mounts mounts;
	struct suspects suspects;
	struct settings *settings; /* settings of cgroups that wait or cause waits */
	size_t nr_settings;
};

int overview_open(const struct overview_opts *opts, struct meter **ret_meter, struct err *err);
/* Sets the cgroup mount points in @window for the cgroup hierarchy of the runq measurement. */
void overview_find_mounts(struct overview_window *window);
/*
 * Reads the settings of cgroups with starved tasks or long waits, and of the cgroups that cause
 * these waits. @window must contain the results of load and runq, the mount points, and an array of
 * OVERVIEW_CGROUPS settings.
 */
void overview_read_settings(struct overview_window *window);
const struct overview_window *overview_window(const struct meter *meter);

#endif
