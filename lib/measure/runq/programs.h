/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loading the BPF programs of runq. */
#ifndef SUBTICK_MEASURE_RUNQ_PROGRAMS_H
#define SUBTICK_MEASURE_RUNQ_PROGRAMS_H

#include "base/err.h"
#include "measure/runq/opts.h"

struct core;
struct runq_shape;

/* Memory that the programs have at a fixed address, in sizes that depend on options and CPUs. */
enum runq_area_id {
	RUNQ_AREA_TASKS,
	RUNQ_AREA_NEAR,
	RUNQ_AREA_PAIRS,
	RUNQ_AREA_ROWS,
	RUNQ_NR_AREAS,
};

struct runq_area {
	void *pages;
	size_t len;
	int fd;	  /* of the map behind it, while loading */
	int none; /* of a map with the declared size of the section, while loading */
};

void runq_areas_close(struct runq_area areas[RUNQ_NR_AREAS]);

/*
 * Loads the programs for @opts without attaching them; @nr_groups as in runq_kernel_open(). @load: loaded
 * programs of load, for which the switch program counts, too; NULL: none. @core and @areas are all zeros;
 * close @areas also on failure.
 */
int runq_programs_load(const struct runq_opts *opts, const struct runq_shape *shape,
		       size_t nr_groups, const struct core *load,
		       struct runq_area areas[RUNQ_NR_AREAS], struct core *core, struct err *err);

/* True if a meter with a sample of ratio @from can change to @to: its programs have constants of @from. */
bool runq_programs_fit(double from, double to);

#endif
