/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report's table of pressure. */
#ifndef SUBTICK_MEASURE_RUNQ_REPORT_PRESSURE_H
#define SUBTICK_MEASURE_RUNQ_REPORT_PRESSURE_H

#include "measure/runq/window.h"
#include "report/report.h"

void runq_report_pressure(const struct runq_window *window, struct report *report);
/* What the figures lack, and why. */
void runq_report_pressure_notes(const struct runq_window *window, struct report *report);

#endif
