/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What measuring costs on a core, found before its first point. */
#ifndef SUBTICK_MEASURE_WAKE_CALIBRATE_H
#define SUBTICK_MEASURE_WAKE_CALIBRATE_H

#include "measure/wake/worker.h"

/* Fills worker->calibration; wake_probe_calibrate() must be on. */
int wake_calibrate(struct wake_worker *worker);

#endif
