/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures by residency counters how deep a core and its package slept before each wake-up. */
#ifndef SUBTICK_MEASURE_WAKE_DEPTH_H
#define SUBTICK_MEASURE_WAKE_DEPTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/wake.h"
#include "host/cpuidle.h"
#include "host/perf.h"

#define CSTATE_MAX	8 /* maximum number of counters per core, and also per package */
#define CSTATE_COUNTERS (2 * CSTATE_MAX)

/*
 * Lists the counters of the PMU cstate_core ("C1", "C6", …), or of cstate_pkg ("PC2", "PC6", …) if
 * @package is true. Returns the number of counters, or 0 if the machine lacks the PMU.
 */
int cstate_list(const char *root, bool package, struct perf_event events[CSTATE_MAX]);

/*
 * Returns the hardware C-state number of a cpuidle state, or -1 if unknown. "C6S" of intel_idle has
 * number 6, and so has "C2_ACPI" of acpi_idle with MWAIT hint 0x20.
 */
int cstate_number(const char *driver, const char *name, const char *desc);

/* Opened counters of one CPU. A counter counts the cycles of a core or package in one C-state. */
struct cstate_set {
	int nr;
	int number[CSTATE_COUNTERS];
	bool package[CSTATE_COUNTERS];
	int fd[CSTATE_COUNTERS];
};

/* Index of the core counter that counts time in C-state @number, or -1. */
int cstate_counter(const struct cstate_set *set, int number);

/*
 * Number of columns of the array `ns`: one per hardware counter, and one for cpuidle's time in the
 * requested state.
 */
#define WAKE_DEPTH_COLUMNS (CSTATE_COUNTERS + 1)

struct wake_depth {
	bool opened, broken; /* `broken`: true if reading a residency counter failed */
	struct cstate_set hw;
	struct cpuidle_watch idle;
	/* for each idle state: index of its counter in `hw`, or -1 */
	int counter_of[CPUIDLE_MAX_STATES];
	/* for each idle state: true if the package can sleep while a core is in the idle state */
	bool package_can[CPUIDLE_MAX_STATES];
	double ns_per_cycle;
	uint64_t last[CSTATE_COUNTERS];
	uint64_t sum[CSTATE_COUNTERS]; /* sum of each counter over all sweeps, in cycles */
	struct cpuidle_count idle_last[CPUIDLE_MAX_STATES];

	/* idle time by wake-up and counter; index: wake-up × nr_columns + number of the counter */
	uint32_t *ns;
	size_t max_points;
	unsigned int nr_columns;
	char name[WAKE_DEPTH_COLUMNS][8];
};

/*
 * Begins to read the residency counters. The first call opens the counters. Must be called on the
 * measured core. Returns 0 or -ENOMEM. If the machine has no residency counters, depth->nr_columns
 * is 0.
 */
int wake_depth_begin(struct wake_depth *depth, const char *root, unsigned int cpu,
		     size_t max_points);
/*
 * Stores the increments of the residency counters since the previous wake-up, and sets the members
 * `entered` and `package` of @point. Must be called on the measured core after each wake-up.
 */
void wake_depth_point(struct wake_depth *depth, size_t index, struct wake_point *point);
void wake_depth_close(struct wake_depth *depth);

/*
 * Returns which counters set wake_point.entered for an idle state: "cstate_core", "cpuidle", or
 * NULL if unknown.
 */
const char *wake_depth_by(const struct wake_depth *depth, unsigned int state);

#endif
