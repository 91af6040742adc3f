/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the result of a window from single wake-ups or histograms. */
#ifndef SUBTICK_MEASURE_WAKE_FILL_H
#define SUBTICK_MEASURE_WAKE_FILL_H

#include "base/array.h"
#include "measure/wake/env.h"
#include "measure/wake/run.h"
#include "measure/wake/window.h"

/*
 * Computes all members of the window except those that the caller sets: times, losses, settings and
 * breakdown. @passive is NULL for sources that measure single wake-ups. Returns 0 or -ENOMEM.
 */
int wake_fill(struct wake_window *window, const struct wake_env *env, const struct wake_run *run,
	      const struct wake_passive *passive);

/* Appends a row to a list of @w such as w->states. Sets w->failed if memory runs out. */
#define WAKE_ADD(w, rows, row) \
	((w)->failed |= array_push((w)->rows, (w)->nr_##rows, row) != 0)

/* Add rows for the idle states of one core. @uncertainty_ns is the maximum error of a latency. */
void wake_states_points(struct wake_window *window, const struct wake_env *env,
			const struct wake_worker *worker, double uncertainty_ns);
void wake_states_passive(struct wake_window *window, const struct wake_env *env,
			 const struct wake_worker *worker, const struct wake_passive *passive,
			 double uncertainty_ns);
/* Adds one row over all cores per forced idle state; no rows if no states were forced. */
void wake_totals(struct wake_window *window, const struct wake_env *env,
		 const struct wake_run *run);

/* If a latency budget was given, adds the deepest idle state of each core that fits the budget. */
void wake_budgets(struct wake_window *window, const struct wake_env *env);

#endif
