/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From points or histograms to a window. */
#ifndef SUBTICK_MEASURE_WAKE_FILL_H
#define SUBTICK_MEASURE_WAKE_FILL_H

#include "measure/wake/env.h"
#include "measure/wake/passive.h"
#include "measure/wake/run.h"
#include "measure/wake/window.h"

/*
 * Everything that the measurement itself tells; what the meter knows (times, losses, settings,
 * whether stages are wanted) is there already and stays. @passive: its copies, or NULL for points.
 */
int wake_fill(struct wake_window *window, const struct wake_env *env, const struct wake_run *run,
	      const struct wake_passive *passive);

#endif
