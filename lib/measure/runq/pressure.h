/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures pressure, the wall time in which tasks of a cgroup wait, with separate BPF programs. */
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

/* Approximate kernel memory of the maps. */
#define RUNQ_PRESSURE_BYTES (4ULL << 20)

/* Waiting times of a group by cause. The causes of a group's waits do not overlap in time. */
struct runq_pressure_times {
	uint64_t waiting_ns[RUNQ_PRESSURE_NR_CAUSES]; /* time in which at least one task waited */
	/* time in which at least one task waited and no task ran */
	uint64_t stalled_ns[RUNQ_PRESSURE_NR_CAUSES];
};

/* Pressure of a cgroup with its descendants in one window. */
struct runq_pressure_row {
	uint64_t key;  /* key of the cgroup in the BPF maps, or 0 for an unused group number */
	uint32_t up;   /* group number of the parent cgroup, or 0 for the root cgroup */
	/* the row changed during every attempt to read it; the next window counts its times */
	bool unstable;
	struct runq_pressure_times times;
};

struct runq_pressure_losses {
	RUNQ_PRESSURE_LOSSES(LOSS_MEMBER)
};

/* The cgroup hierarchy in @opts must not be AUTO. */
int runq_pressure_open(const struct runq_opts *opts, struct runq_pressure **ret_pressure,
		       struct err *err);
/* Ends the window. *ret_rows is indexed by group number from 1 and valid until the next call. */
int runq_pressure_window(struct runq_pressure *pressure, const struct runq_pressure_row **ret_rows,
			 size_t *ret_nr, struct err *err);
void runq_pressure_losses(const struct runq_pressure *pressure,
			  struct runq_pressure_losses *ret_losses);
void runq_pressure_close(struct runq_pressure *pressure);

/*
 * Computes the growth of the pressure times of @group from @base to @now_ns, and adds the growth to
 * @base. Returns false if a time fell by more than 1 ms or grew by more than @elapsed_ns plus 1 ms,
 * because a BPF program was updating the times.
 */
bool runq_pressure_since(const volatile struct runq_pressure_group *group, uint64_t now_ns,
			 uint64_t elapsed_ns, struct runq_pressure_times *base,
			 struct runq_pressure_times *ret_grown);
void runq_pressure_add(struct runq_pressure_times *to, const struct runq_pressure_times *more);
/* Returns the sum of @by_cause in ns. The sum is a time, because causes do not overlap. */
uint64_t runq_pressure_sum(const uint64_t *by_cause);

/* State for adding names of cgroups and the kernel's PSI to the pressure rows of a runq window. */
struct runq_pressures;

/*
 * The cgroup hierarchy in @opts must not be AUTO. @mount is the mount point of cgroup v2, where
 * cgroups have PSI, or NULL.
 */
int runq_pressures_open(const struct runq_opts *opts, const char *mount,
			struct runq_pressures **ret_pressures, struct err *err);
/*
 * Ends the window and fills `pressed` of @window. Must be called after runq_kernel_window(), which
 * finds the groups. @pods may be NULL.
 */
int runq_window_pressure(struct runq_window *window, struct runq_pressures *pressures,
			 const struct runq_kernel *kernel, const struct runq_filter *filter,
			 const struct pods *pods, struct err *err);
/* Discards the unreported pressure times of cgroups whose names are unknown. */
void runq_pressures_drop(struct runq_pressures *pressures);
void runq_pressures_close(struct runq_pressures *pressures);

#endif
