/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A window of `subtick wake` for views. */
#ifndef SUBTICK_MEASURE_WAKE_REPORT_H
#define SUBTICK_MEASURE_WAKE_REPORT_H

#include "measure/wake/window.h"
#include "report/report.h"

int wake_report(const struct wake_window *window, struct report **ret_report);

#endif
