/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measurement of `subtick runq`: run-queue waits by group of tasks in successive windows. */
#ifndef SUBTICK_MEASURE_RUNQ_H
#define SUBTICK_MEASURE_RUNQ_H

#include "measure/meter.h"
#include "measure/runq/opts.h"
#include "measure/runq/window.h"

int runq_open(const struct runq_opts *opts, struct meter **ret_meter, struct err *err);
/*
 * Returns the last window. Before the first read the window has no rows, but its source, boundaries
 * and percentiles are set.
 */
const struct runq_window *runq_window(const struct meter *meter);

/*
 * Sets the sample ratio for the next window and all later windows. runq_programs_fit() must accept
 * @ratio. Waits that end while a window is read belong to the next window, but are sampled with the
 * previous ratio.
 */
void runq_set_sample(struct meter *meter, double ratio);

/*
 * Returns an upper bound in bytes of the kernel memory that runq_open() allocates for @groups
 * groups on @cpus possible CPUs, with causes and blame. @fine is true if slots have fine
 * histograms. docs/methods/runq.md states the formula.
 */
uint64_t runq_memory_bytes(size_t groups, unsigned int cpus, bool fine);

#endif
