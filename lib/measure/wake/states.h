/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of idle states, from single points or from the kernel's histograms. */
#ifndef SUBTICK_MEASURE_WAKE_STATES_H
#define SUBTICK_MEASURE_WAKE_STATES_H

#include "measure/wake/env.h"
#include "measure/wake/passive.h"
#include "measure/wake/window.h"
#include "measure/wake/worker.h"

/* Rows of one core. @uncertainty_ns: largest error of its latencies. */
void wake_states_points(struct wake_window *window, const struct wake_env *env,
			const struct wake_worker *worker, double uncertainty_ns);
void wake_states_passive(struct wake_window *window, const struct wake_env *env,
			 const struct wake_worker *worker, const struct wake_passive *passive,
			 double uncertainty_ns);
/* Counts @point by how deep the core slept. */
void wake_evidence_add(struct wake_evidence *evidence, const struct wake_point *point);

#endif
