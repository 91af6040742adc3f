/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every point of a window, for --points and --plot. */
#ifndef SUBTICK_MEASURE_WAKE_REPORT_POINTS_H
#define SUBTICK_MEASURE_WAKE_REPORT_POINTS_H

#include <stdbool.h>

#include "measure/wake/window.h"
#include "report/report.h"

/* More curves than this are unreadable in one plot. */
#define WAKE_PLOT_CORES 8

/*
 * @distribution: also how the latencies are distributed, per core, or with cpu null over all cores
 * where there are several sources or more than WAKE_PLOT_CORES.
 */
int wake_report_points(const struct wake_window *window, bool distribution,
		       struct report **ret_report);

#endif
