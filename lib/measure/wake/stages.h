/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What only the sources with points have: stages, pre-wake, the hardware's residency. */
#ifndef SUBTICK_MEASURE_WAKE_STAGES_H
#define SUBTICK_MEASURE_WAKE_STAGES_H

#include "measure/wake/window.h"
#include "measure/wake/worker.h"

/* All add the rows of one core. */
void wake_stages(struct wake_window *window, const struct wake_worker *worker);
/* From the rows of states that @cpu has in the window. */
void wake_pairs(struct wake_window *window, const struct wake_cpu *cpu, double uncertainty_ns);
/* No row where the hardware has no such counters. */
void wake_residencies(struct wake_window *window, const struct wake_worker *worker);

#endif
