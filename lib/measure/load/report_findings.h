/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a window of load leads to. */
#ifndef SUBTICK_MEASURE_LOAD_REPORT_FINDINGS_H
#define SUBTICK_MEASURE_LOAD_REPORT_FINDINGS_H

#include "measure/load/window.h"
#include "report/report.h"

/* Adds to the findings of a report whose window is that of @window. */
void load_findings(const struct load_window *window, struct report *report);

#endif
