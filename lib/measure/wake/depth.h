/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How deep a core and its package really slept during each point, by counters around it. */
#ifndef SUBTICK_MEASURE_WAKE_DEPTH_H
#define SUBTICK_MEASURE_WAKE_DEPTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/wake.h"
#include "sys/cpuidle.h"
#include "measure/wake/cstate.h"

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
/* There, after each point: what was counted since the last call; sets entered and package. */
void wake_depth_point(struct wake_depth *depth, size_t index, struct wake_point *point);
void wake_depth_close(struct wake_depth *depth);

/* What tells whether that state is entered: "cstate_core", "cpuidle" or NULL. */
const char *wake_depth_by(const struct wake_depth *depth, unsigned int state);

#endif
