/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files with saved output that commands read back. */
#ifndef SUBTICK_CMD_INPUT_H
#define SUBTICK_CMD_INPUT_H

#include <stddef.h>

#include "base/err.h"
#include "report/report.h"

/* The content of a file or pipe of less than 256 MiB, allocated; NULL with the reason in @err. */
char *input_read(const char *path, size_t *ret_size, struct err *err);
/* Reads the first report of a file of JSON. */
int input_report(const char *path, struct report **ret_report, struct err *err);

#endif
