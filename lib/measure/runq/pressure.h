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

struct pods;
struct runq_filter;
struct runq_kernel;
struct runq_pressure;
struct runq_window;

/* Kernel memory, about: groups, their index, and the table of tasks. */
#define RUNQ_PRESSURE_BYTES (4ULL << 20)

/* By cause; at any moment a group has at most one. */
struct runq_pressure_times {
	uint64_t waiting_ns[RUNQ_PRESSURE_NR_CAUSES]; /* at least one task waits */
	uint64_t stalled_ns[RUNQ_PRESSURE_NR_CAUSES]; /* at least one task waits and none runs */
};

/* A cgroup and all below it, in one window. */
struct runq_pressure_row {
	uint64_t key;  /* as in abi/runq.h; 0: no group has this number */
	uint32_t up;   /* the row of the cgroup above it; 0: this is the root */
	/* The row changed during every read, so its time counts in the next window. */
	bool unstable;
	struct runq_pressure_times times;
};

struct runq_pressure_losses {
	RUNQ_PRESSURE_LOSSES(LOSS_MEMBER)
};

/* The hierarchy of @opts is the one in use, never AUTO. */
int runq_pressure_open(const struct runq_opts *opts, struct runq_pressure **ret_pressure,
		       struct err *err);
/* Ends the window: growth by number, from 1; valid until the next call. */
int runq_pressure_window(struct runq_pressure *pressure, const struct runq_pressure_row **ret_rows,
			 size_t *ret_nr, struct err *err);
/* Since the start. */
void runq_pressure_losses(const struct runq_pressure *pressure,
			  struct runq_pressure_losses *ret_losses);
void runq_pressure_close(struct runq_pressure *pressure);

/*
 * Growth of the times of @group from @base to @now_ns, open intervals included. Advances @base by
 * the growth. False, without a change of @base, if the times grew by more than @elapsed_ns or fell:
 * a core was changing them.
 */
bool runq_pressure_since(const volatile struct runq_pressure_group *group, uint64_t now_ns,
			 uint64_t elapsed_ns, struct runq_pressure_times *base,
			 struct runq_pressure_times *ret_grown);
void runq_pressure_add(struct runq_pressure_times *to, const struct runq_pressure_times *more);
/* Sum over the causes. A group has one cause at a time, so it is the time with any cause. */
uint64_t runq_pressure_sum(const uint64_t *by_cause);

/* Rows of a runq window: the pressure of each cgroup, its name, and the kernel's PSI. */
struct runq_pressures;

/*
 * The hierarchy of @opts is never AUTO. @mount is its mount point if its cgroups have PSI, as those
 * of v2 do; else NULL.
 */
int runq_pressures_open(const struct runq_opts *opts, const char *mount,
			struct runq_pressures **ret_pressures, struct err *err);
/* Ends the window, after the window of @kernel, which has the groups. @pods may be NULL. */
int runq_window_pressure(struct runq_window *window, struct runq_pressures *pressures,
			 const struct runq_kernel *kernel, const struct runq_filter *filter,
			 const struct pods *pods, struct err *err);
/* Drops the times that cgroups without a name kept for a later window. */
void runq_pressures_drop(struct runq_pressures *pressures);
void runq_pressures_close(struct runq_pressures *pressures);

#endif
