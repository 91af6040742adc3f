/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads the BPF programs of runq. */
#ifndef SUBTICK_MEASURE_RUNQ_PROGRAMS_H
#define SUBTICK_MEASURE_RUNQ_PROGRAMS_H

#include "base/err.h"
#include "measure/runq/opts.h"

struct core;
struct runq_shape;

/*
 * Memory area with a fixed address in the BPF programs. Its size depends on the command-line
 * options and on the number of CPUs.
 */
enum runq_area_id {
	RUNQ_AREA_TASKS,
	RUNQ_AREA_FIRST,
	RUNQ_AREA_PAIRS,
	RUNQ_AREA_ROWS,
	RUNQ_NR_AREAS,
};

struct runq_area {
	void *pages;
	size_t len;
	int fd; /* descriptor of the map with the memory of this area; used while loading */
	/* descriptor of a map with the size that the BPF section declares; used while loading */
	int none;
};

void runq_areas_close(struct runq_area areas[RUNQ_NR_AREAS]);

/*
 * Loads the programs for @opts without attaching them. @load is the BPF object of load if the
 * program on sched_switch also counts for load, or NULL. The caller zeroes @core and @areas, and
 * closes @areas even after a failure.
 */
int runq_programs_load(const struct runq_opts *opts, const struct runq_shape *shape,
		       size_t nr_groups, const struct core *load,
		       struct runq_area areas[RUNQ_NR_AREAS], struct core *core, struct err *err);

/*
 * True if a running measurement can change its sample ratio from @from to @to. Some changes are
 * impossible, because constants in the loaded BPF programs depend on the sample ratio.
 */
bool runq_programs_fit(double from, double to);

#endif
