/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report of `subtick noise`. */
#ifndef SUBTICK_MEASURE_NOISE_REPORT_H
#define SUBTICK_MEASURE_NOISE_REPORT_H

#include "measure/noise/window.h"
#include "report/report.h"

int noise_report(const struct noise_window *w, struct report **ret_report);

#endif
