/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Turns a trace into a report for views. */
#ifndef SUBTICK_MEASURE_TRACE_REPORT_H
#define SUBTICK_MEASURE_TRACE_REPORT_H

#include "measure/trace/window.h"
#include "report/report.h"

/* @top: of the waits and of the tasks, so many; 0: all. */
int trace_report(const struct trace_window *window, uint32_t top, struct report **ret_report);

#endif
