/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What idle states cost the groups of a runq window, as a part of its report. */
#ifndef SUBTICK_MEASURE_RUNQ_REPORT_IDLE_H
#define SUBTICK_MEASURE_RUNQ_REPORT_IDLE_H

#include "measure/runq/window.h"
#include "report/report.h"

void runq_report_idle(const struct runq_window *window, struct report *report);
/* A note, unless no state with a claim was left. */
void runq_report_advice(const struct runq_window *window, struct report *report);

#endif
