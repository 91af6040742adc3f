/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report of a window of load. */
#ifndef SUBTICK_MEASURE_LOAD_REPORT_H
#define SUBTICK_MEASURE_LOAD_REPORT_H

#include "measure/load/window.h"
#include "report/report.h"

int load_report(const struct load_window *window, struct report **ret_report);
/* The losses of a source as keys of the report's quality. */
void load_report_losses(const struct load_losses *losses, struct report *report);

#endif
