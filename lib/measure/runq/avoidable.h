/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts avoidable waits. A wait is avoidable while a CPU that the task may use is idle. */
#ifndef SUBTICK_MEASURE_RUNQ_AVOIDABLE_H
#define SUBTICK_MEASURE_RUNQ_AVOIDABLE_H

#include <stdint.h>

#include "base/err.h"
#include "measure/runq/opts.h"
#include "measure/runq/waits.h"

struct runq_avoidable;

/* Approximate kernel memory of the maps of avoidable waits. */
#define RUNQ_AVOIDABLE_BYTES (4ULL << 20)

/* The cgroup hierarchy in @opts must not be AUTO. */
int runq_avoidable_open(const struct runq_opts *opts, struct runq_avoidable **ret_avoidable,
			struct err *err);
/* Discards all waits before the first window. */
int runq_avoidable_start(struct runq_avoidable *avoidable, struct err *err);
/*
 * Ends the window and fills the members of the rows of @list that describe avoidable waits. Must be
 * called before rollups are computed.
 */
int runq_avoidable_window(struct runq_avoidable *avoidable, struct runq_waits_list *list,
			  struct err *err);
/* Returns the number of waits since the start whose avoidable part is unknown. */
uint64_t runq_avoidable_lost(const struct runq_avoidable *avoidable);
void runq_avoidable_close(struct runq_avoidable *avoidable);

#endif
