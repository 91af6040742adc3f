/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of who had a core: interrupts by line, tasks. */
#ifndef SUBTICK_MEASURE_LOAD_REPORT_WHO_H
#define SUBTICK_MEASURE_LOAD_REPORT_WHO_H

#include "measure/load/window.h"
#include "report/report.h"

/* Each adds its table, or a note why there is none; nothing if it was not asked for. */
void load_report_lines(const struct load_window *w, struct report *report);
void load_report_tasks(const struct load_window *w, struct report *report);

#endif
