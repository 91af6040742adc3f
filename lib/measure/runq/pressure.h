/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Wall time in which tasks of a cgroup wait for a core: programs of their own, on request. */
#ifndef SUBTICK_MEASURE_RUNQ_PRESSURE_H
#define SUBTICK_MEASURE_RUNQ_PRESSURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/runq_pressure.h"
#include "base/err.h"
#include "base/losses.h"
#include "measure/runq/opts.h"

struct runq_pressure;

/* Kernel memory, about: groups, their index, and the table of tasks. */
#define RUNQ_PRESSURE_BYTES (4ULL << 20)

/* By cause; at any moment a group has at most one. */
struct runq_pressure_times {
	uint64_t waiting_ns[RUNQ_PRESSURE_NR_CAUSES]; /* at least one task waits */
	uint64_t stalled_ns[RUNQ_PRESSURE_NR_CAUSES]; /* the same, and none runs */
};

/* A cgroup and all below it, in one window. */
struct runq_pressure_row {
	uint64_t key;  /* as in abi/runq.h; 0: no group has this number */
	uint32_t up;   /* the row of the cgroup above it; 0: this is the root */
	bool unstable; /* it changed whenever it was read: its time is in the next window */
	struct runq_pressure_times times;
};

struct runq_pressure_losses {
	RUNQ_PRESSURE_LOSSES(LOSS_MEMBER)
};

/* The hierarchy of @opts is the one in use, never AUTO. */
int runq_pressure_open(const struct runq_opts *opts, struct runq_pressure **ret_pressure,
		       struct err *err);
/* Ends the window: what it added, by number from 1 on, until the next call. */
int runq_pressure_window(struct runq_pressure *pressure, const struct runq_pressure_row **ret_rows,
			 size_t *ret_nr, struct err *err);
/* Since the start. */
void runq_pressure_losses(const struct runq_pressure *pressure,
			  struct runq_pressure_losses *ret_losses);
void runq_pressure_close(struct runq_pressure *pressure);

/*
 * What the times of @group have grown by since @base, which becomes what they are at @now_ns. Intervals
 * that go on count up to then. False, with @base as it was, if they grew by more than @elapsed_ns or
 * fell: a core is in the midst of a change.
 */
bool runq_pressure_since(const volatile struct runq_pressure_group *group, uint64_t now_ns,
			 uint64_t elapsed_ns, struct runq_pressure_times *base,
			 struct runq_pressure_times *ret_grown);
/* Over the causes, of which a group has one at a time: the time of any of them. */
uint64_t runq_pressure_sum(const uint64_t *by_cause);

#endif
