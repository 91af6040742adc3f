/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes reports and files. */
#ifndef SUBTICK_CMD_OUTPUT_H
#define SUBTICK_CMD_OUTPUT_H

#include <stdio.h>

#include "base/err.h"
#include "view/view.h"

/*
 * Writes and frees a report, which may be NULL. Returns -EPIPE with @err untouched if the reader has
 * closed the pipe: the command then ends without a message.
 */
int output_report(struct view *view, struct report *report, struct err *err);
/* Creates or truncates a file; NULL with the reason in @err. */
FILE *output_open(const char *path, struct err *err);
/* Closes the file. @rc is the result of the writes: 0 or -errno. */
int output_close(FILE *out, const char *path, int rc, struct err *err);

#endif
