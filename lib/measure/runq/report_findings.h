/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a window of run-queue waits leads to. */
#ifndef SUBTICK_MEASURE_RUNQ_REPORT_FINDINGS_H
#define SUBTICK_MEASURE_RUNQ_REPORT_FINDINGS_H

#include "measure/runq/window.h"
#include "report/report.h"

/* Adds to the findings of a report whose window is that of @window. */
void runq_findings(const struct runq_window *window, struct report *report);

#endif
