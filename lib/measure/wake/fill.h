/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From points or histograms to a window. */
#ifndef SUBTICK_MEASURE_WAKE_FILL_H
#define SUBTICK_MEASURE_WAKE_FILL_H

#include "measure/wake/env.h"
#include "measure/wake/passive.h"
#include "measure/wake/run.h"
#include "measure/wake/window.h"

/*
 * Sets all that follows from the measurement. Times, losses, settings and whether stages are
 * wanted are the meter's and stay as they are. @passive: NULL for the sources with points.
 */
int wake_fill(struct wake_window *window, const struct wake_env *env, const struct wake_run *run,
	      const struct wake_passive *passive);

#endif
