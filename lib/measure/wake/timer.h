/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source timer: a timer of the measured core itself. */
#ifndef SUBTICK_MEASURE_WAKE_TIMER_H
#define SUBTICK_MEASURE_WAKE_TIMER_H

#include "measure/wake/worker.h"

extern const struct wake_source_ops wake_timer_ops;

#endif
