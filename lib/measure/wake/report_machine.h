/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* On which machine and settings wake latencies were measured, as keys of a report. */
#ifndef SUBTICK_MEASURE_WAKE_REPORT_MACHINE_H
#define SUBTICK_MEASURE_WAKE_REPORT_MACHINE_H

#include "measure/wake/window.h"
#include "report/report.h"

void wake_report_machine(const struct wake_machine *machine, struct report *report);

#endif
