/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a window of wake latencies leads to. */
#ifndef SUBTICK_MEASURE_WAKE_REPORT_FINDINGS_H
#define SUBTICK_MEASURE_WAKE_REPORT_FINDINGS_H

#include "measure/wake/window.h"
#include "report/report.h"

/* Adds to the findings of a report whose window is that of @window. */
void wake_findings(const struct wake_window *window, struct report *report);

#endif
