/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measurement of `subtick runq`: run-queue waits by group of tasks in successive windows. */
#ifndef SUBTICK_MEASURE_RUNQ_H
#define SUBTICK_MEASURE_RUNQ_H

#include "measure/meter.h"
#include "measure/runq/opts.h"
#include "measure/runq/window.h"

int runq_open(const struct runq_opts *opts, struct meter **ret_meter, struct err *err);
/*
 * Returns the last window. Before the first read it has no rows, but source, boundaries and
 * percentiles.
 */
const struct runq_window *runq_window(const struct meter *meter);

/*
 * Sets the sample ratio from the next window on; see runq_programs_fit(). Waits that end while a
 * window is read belong to the next window, but are sampled with the previous ratio.
 */
void runq_set_sample(struct meter *meter, double ratio);

/*
 * Upper bound of the kernel memory for @groups groups on @cpus possible CPUs, with causes and
 * blame. @fine: slots have fine histograms. docs/methods/runq.md states the formula.
 */
uint64_t runq_memory_bytes(size_t groups, unsigned int cpus, bool fine);

#endif
