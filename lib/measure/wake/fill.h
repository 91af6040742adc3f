/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes a window from points or histograms. */
#ifndef SUBTICK_MEASURE_WAKE_FILL_H
#define SUBTICK_MEASURE_WAKE_FILL_H

#include "base/array.h"
#include "measure/wake/env.h"
#include "measure/wake/run.h"
#include "measure/wake/window.h"

/*
 * Sets every member that follows from the measurement. The meter sets times, losses, settings and
 * breakdown. @passive: NULL for the sources with points. 0 or -ENOMEM.
 */
int wake_fill(struct wake_window *window, const struct wake_env *env, const struct wake_run *run,
	      const struct wake_passive *passive);

/* Appends a row, for example to w->states. Without memory it sets w->failed. */
#define WAKE_ADD(w, rows, ...)                                                           \
	do {                                                                             \
		typeof((w)->rows) grown = grow((w)->rows, (w)->nr_##rows, sizeof(*grown)); \
                                                                                         \
		(w)->failed |= !grown;                                                   \
		if (grown) {                                                             \
			(w)->rows = grown;                                               \
			grown[(w)->nr_##rows++] = (__VA_ARGS__);                         \
		}                                                                        \
	} while (0)

/* Add the idle states of one core. @uncertainty_ns: largest error of its latencies. */
void wake_states_points(struct wake_window *window, const struct wake_env *env,
			const struct wake_worker *worker, double uncertainty_ns);
void wake_states_passive(struct wake_window *window, const struct wake_env *env,
			 const struct wake_worker *worker, const struct wake_passive *passive,
			 double uncertainty_ns);
/* Adds each forced idle state, all cores together; without forced rounds there are none. */
void wake_totals(struct wake_window *window, const struct wake_env *env,
		 const struct wake_run *run);

/* Adds the deepest idle state that fits the budget, for each core; nothing without a budget. */
void wake_budgets(struct wake_window *window, const struct wake_env *env);

#endif
