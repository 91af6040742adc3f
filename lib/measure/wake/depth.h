/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Depth of sleep of a core and its package during each point, by residency counters. */
#ifndef SUBTICK_MEASURE_WAKE_DEPTH_H
#define SUBTICK_MEASURE_WAKE_DEPTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/wake.h"
#include "host/cpuidle.h"
#include "host/perf.h"

#define CSTATE_MAX	8 /* of the core, and of the package */
#define CSTATE_COUNTERS (2 * CSTATE_MAX)

/*
 * The counters of the cstate_core PMU, named "C1", "C6", …, or of cstate_pkg: "PC2", "PC6", ….
 * Returns how many; 0 without that PMU.
 */
int cstate_list(const char *root, bool package, struct perf_event events[CSTATE_MAX]);

/*
 * The number in the hardware's name of an idle state of cpuidle: 6 for intel_idle's "C6S" and for
 * acpi_idle's "C2_ACPI", whose description has the MWAIT hint 0x20. -1 if unknown.
 */
int cstate_number(const char *driver, const char *name, const char *desc);

/* Open counters of one CPU. They count cycles of the cycle clock while in their state. */
struct cstate_set {
	int nr;
	char name[CSTATE_COUNTERS][8];
	int number[CSTATE_COUNTERS];
	bool package[CSTATE_COUNTERS];
	int fd[CSTATE_COUNTERS];
};

/* The core's counter that runs while the core is in state @number; -1 without one. */
int cstate_counter(const struct cstate_set *set, int number);

/* Counters of the hardware, then cpuidle's own time in the state that was requested. */
#define WAKE_DEPTH_COLUMNS (CSTATE_COUNTERS + 1)

struct wake_depth {
	bool opened, broken; /* broken: a counter could not be read any more */
	struct cstate_set hw;
	struct cpuidle_watch idle;
	int counter_of[CPUIDLE_MAX_STATES];   /* index in hw for each idle state; -1: none */
	bool package_can[CPUIDLE_MAX_STATES]; /* a core in this state lets its package sleep */
	double ns_per_cycle;
	uint64_t last[CSTATE_COUNTERS];
	uint64_t sum[CSTATE_COUNTERS]; /* cycles since the first begin, while a sweep ran */
	struct cpuidle_count idle_last[CPUIDLE_MAX_STATES];

	/* Time in each column during each point: [point × nr_columns]. */
	uint32_t *ns;
	size_t max_points;
	unsigned int nr_columns;
	char name[WAKE_DEPTH_COLUMNS][8];
};

/*
 * On the measured core: opens the counters at the first call and reads them. -ENOMEM is the only
 * failure; without counters there are no columns.
 */
int wake_depth_begin(struct wake_depth *depth, const char *root, unsigned int cpu,
		     size_t max_points);
/* On the measured core after each point: stores the deltas, sets entered and package. */
void wake_depth_point(struct wake_depth *depth, size_t index, struct wake_point *point);
void wake_depth_close(struct wake_depth *depth);

/* Source of the entered counts of a state: "cstate_core", "cpuidle" or NULL. */
const char *wake_depth_by(const struct wake_depth *depth, unsigned int state);

#endif
