/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Each idle state that was forced, all cores together: the table of the thesis. */
#ifndef SUBTICK_MEASURE_WAKE_TOTALS_H
#define SUBTICK_MEASURE_WAKE_TOTALS_H

#include "measure/wake/env.h"
#include "measure/wake/run.h"
#include "measure/wake/window.h"

/* Without forced rounds there are none. */
void wake_totals(struct wake_window *window, const struct wake_env *env,
		 const struct wake_run *run);

#endif
