/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loading the BPF programs of runq. */
#ifndef SUBTICK_MEASURE_RUNQ_PROGRAMS_H
#define SUBTICK_MEASURE_RUNQ_PROGRAMS_H

#include "base/err.h"
#include "measure/runq/area.h"
#include "measure/runq/opts.h"

struct runq_bpf;
struct runq_shape;

/* All zeros at first; close them in any case. */
struct runq_areas {
	struct runq_area cpus, tasks, near, pairs, rows;
};

void runq_areas_close(struct runq_areas *areas);

/* Loads what @opts asks for, without attaching it; @nr_groups as in runq_kernel_open(). */
int runq_programs_load(const struct runq_opts *opts, const struct runq_shape *shape,
		       size_t nr_groups, struct runq_areas *areas, struct runq_bpf **ret_skel, struct err *err);

#endif
