/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files of `subtick wake`: --points and --plot. */
#ifndef SUBTICK_CMD_WAKE_FILE_H
#define SUBTICK_CMD_WAKE_FILE_H

#include <stdbool.h>

#include "base/err.h"
#include "measure/meter.h"

/*
 * Checks before a measurement of two minutes that @path (NULL: none) can be written. Leaves no file
 * behind, because the measurement may fail.
 */
int wake_file_check(const char *path, struct err *err);
/* Every point of @meter as CSV, or as JSON if the name ends so; or their plots. */
int wake_file_write(struct meter *meter, const char *path, bool plot, struct err *err);

#endif
