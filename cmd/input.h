/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files with saved output that commands read back. */
#ifndef SUBTICK_CMD_INPUT_H
#define SUBTICK_CMD_INPUT_H

#include <stddef.h>

#include "base/err.h"
#include "present/diff.h"
#include "report/report.h"

/* The content of a file or pipe of less than 256 MiB, allocated; NULL with the reason in @err. */
char *input_read(const char *path, size_t *ret_size, struct err *err);
/* Reads the first report of a file of JSON. */
int input_report(const char *path, struct report **ret_report, struct err *err);
/* Reads all reports of a file of JSON, at least one. Free each of them, and the array. */
int input_reports(const char *path, struct report ***ret_reports, size_t *ret_nr, struct err *err);
void input_reports_free(struct report **reports, size_t nr);
/* Reads the file of --against, which must have output of @command or its points. */
int input_against(const char *path, const char *command, struct diff_side *ret_side,
		  struct err *err);

#endif
