/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files of `subtick wake`: --points and --plot. */
#ifndef SUBTICK_CMD_WAKE_FILE_H
#define SUBTICK_CMD_WAKE_FILE_H

#include <stdbool.h>

#include "base/err.h"
#include "measure/meter.h"
#include "report/report.h"

/* The report of every point, see wake_report_points(). */
int wake_file_list(struct meter *meter, bool distribution, struct report **ret_points,
		   struct err *err);
/* Writes every point of @meter as CSV, or as JSON if the name ends in .json. */
int wake_file_points(struct meter *meter, const char *path, struct err *err);
/* Plots the points, beside the points of an earlier run unless @earlier is NULL. */
int wake_file_plot(struct meter *meter, const char *path, const struct report *earlier,
		   struct err *err);

#endif
