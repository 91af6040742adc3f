/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts waits for CPUs to leave an idle state, by group and idle state. */
#ifndef SUBTICK_MEASURE_RUNQ_IDLE_H
#define SUBTICK_MEASURE_RUNQ_IDLE_H

#include <stddef.h>

#include "abi/runq_idle.h"
#include "base/err.h"
#include "measure/runq/kernel.h"
#include "measure/runq/rollup.h"
#include "measure/runq/window.h"

struct runq_idle;

/* Waits of one group until CPUs had left one idle state. */
struct runq_idle_row {
	struct runq_idle_key key;
	struct runq_idle_waits waits;
};

/* The cgroup hierarchy in @opts must not be AUTO. */
int runq_idle_open(const struct runq_opts *opts, struct runq_idle **ret_idle, struct err *err);
/*
 * Ends the window and fills idle_states of @window. Must be called after runq_kernel_window(),
 * which finds the names of groups.
 */
int runq_window_idle(struct runq_window *window, struct runq_idle *idle,
		     const struct runq_kernel *kernel, const struct runq_filter *filter,
		     struct runq_rollup *rollup, struct err *err);
void runq_idle_close(struct runq_idle *idle);

/*
 * Sorts the reading @now by key and subtracts the earlier reading @before, which is sorted by key.
 * Stores the rows whose counts grew in @ret_rows, which has room for @nr_now rows, and returns
 * their number.
 */
size_t runq_idle_since(struct runq_idle_row *now, size_t nr_now, const struct runq_idle_row *before,
		       size_t nr_before, struct runq_idle_row *ret_rows);

#endif
