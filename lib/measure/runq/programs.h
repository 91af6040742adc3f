/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads the BPF programs of runq. */
#ifndef SUBTICK_MEASURE_RUNQ_PROGRAMS_H
#define SUBTICK_MEASURE_RUNQ_PROGRAMS_H

#include "base/err.h"
#include "measure/runq/opts.h"

struct core;
struct runq_shape;

/* Memory that has a fixed address in the BPF programs. The size depends on options and CPUs. */
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
	int fd;	  /* descriptor of the map of this memory, while loading */
	int none; /* descriptor of a map of the section's declared size, while loading */
};

void runq_areas_close(struct runq_area areas[RUNQ_NR_AREAS]);

/*
 * Loads the programs for @opts without attaching them, with slots for @nr_groups. @load is the BPF
 * object of load if the program on sched_switch also counts for load, or NULL. The caller passes
 * @core and @areas filled with zeros. The caller must close @areas also after a failure.
 */
int runq_programs_load(const struct runq_opts *opts, const struct runq_shape *shape,
		       size_t nr_groups, const struct core *load,
		       struct runq_area areas[RUNQ_NR_AREAS], struct core *core, struct err *err);

/*
 * True if a running meter can change its sample ratio from @from to @to. Some changes are
 * impossible, because constants of the loaded programs depend on the ratio.
 */
bool runq_programs_fit(double from, double to);

#endif
