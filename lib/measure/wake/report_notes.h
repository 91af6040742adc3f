/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sentences for people about a window of `subtick wake`. */
#ifndef SUBTICK_MEASURE_WAKE_REPORT_NOTES_H
#define SUBTICK_MEASURE_WAKE_REPORT_NOTES_H

#include "measure/wake/window.h"
#include "report/report.h"

void wake_notes(const struct wake_window *window, struct report *report);

#endif
