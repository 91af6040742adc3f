/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Turns a window of runq into a report for views. */
#ifndef SUBTICK_MEASURE_RUNQ_REPORT_H
#define SUBTICK_MEASURE_RUNQ_REPORT_H

#include "measure/runq/window.h"
#include "report/report.h"

int runq_report(const struct runq_window *window, struct report **ret_report);
/* Long waits as they come; of the window only what was chosen matters: source, hierarchy. */
int runq_report_waits(const struct runq_window *window, const struct runq_long_wait *waits,
		      size_t nr, struct report **ret_report);

#endif
