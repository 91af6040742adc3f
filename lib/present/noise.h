/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of a noise window. */
#ifndef SUBTICK_PRESENT_NOISE_H
#define SUBTICK_PRESENT_NOISE_H

#include "measure/noise/window.h"
#include "report/report.h"

int noise_report(const struct noise_window *w, struct report **ret_report);

#endif
