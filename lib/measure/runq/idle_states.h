/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of a runq window: what each group waited for cores that left an idle state. */
#ifndef SUBTICK_MEASURE_RUNQ_IDLE_STATES_H
#define SUBTICK_MEASURE_RUNQ_IDLE_STATES_H

#include "measure/runq/filter.h"
#include "measure/runq/idle.h"
#include "measure/runq/kernel.h"
#include "measure/runq/rollup.h"
#include "measure/runq/window.h"

/* Ends the window of @idle; after that of @kernel, which knows the groups' names. */
int runq_window_idle(struct runq_window *window, struct runq_idle *idle,
		     const struct runq_kernel *kernel, const struct runq_filter *filter,
		     struct runq_rollup *rollup, struct err *err);

#endif
