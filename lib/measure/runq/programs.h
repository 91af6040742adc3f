/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads the BPF programs of runq. */
#ifndef SUBTICK_MEASURE_RUNQ_PROGRAMS_H
#define SUBTICK_MEASURE_RUNQ_PROGRAMS_H

#include "base/err.h"
#include "measure/runq/opts.h"

struct core;
struct runq_shape;

/*
 * Memory area with a fixed address in the BPF programs. The options and the number of CPUs
 * determine the size.
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
	/* descriptor of a map of the declared size of the section; see area_release() */
	int none;
};

void runq_areas_close(struct runq_area areas[RUNQ_NR_AREAS]);

/*
 * Loads the programs for @opts without attaching them. If @load is not NULL, the program on
 * sched_switch also measures CPU time for the BPF object @load. The caller zeroes @core and @areas,
 * and closes @areas even after a failure.
 */
int runq_programs_load(const struct runq_opts *opts, const struct runq_shape *shape,
		       size_t nr_groups, const struct core *load,
		       struct runq_area areas[RUNQ_NR_AREAS], struct core *core, struct err *err);

/*
 * True if a running measurement can change its sample ratio from @from to @to: the constants in the
 * loaded BPF programs must be equal for both ratios.
 */
bool runq_programs_fit(double from, double to);

#endif
