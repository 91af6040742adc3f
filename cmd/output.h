/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that commands read and write. */
#ifndef SUBTICK_CMD_OUTPUT_H
#define SUBTICK_CMD_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "present/diff.h"
#include "report/report.h"
#include "view/view.h"

/*
 * Writes and frees a report, which may be NULL. Returns -EPIPE with @err untouched if the reader has
 * closed the pipe: the command then ends without a message.
 */
int output_report(struct view *view, struct report *report, struct err *err);
/*
 * Writes and frees @report. If @before has windows, then writes what changed from there to @now,
 * which may be @report.
 */
int output_against(struct view *view, struct report *report, const struct diff_side *before,
		   struct report *now, struct err *err);
/*
 * A file that a command writes. It is written under a temporary name, synced and renamed, so that
 * under its name it is always complete, also after a full disk or a power cut. A link, terminal, device or
 * named pipe is written to directly.
 */
struct output_file {
	const char *path; /* "-": standard output */
	FILE *out;
	char part[4096]; /* temporary name; "" if written directly */
};

/*
 * Checks before a measurement that @path (NULL: none) can be written. Leaves no file behind, because
 * the measurement may fail.
 */
int output_check(const char *path, struct err *err);
int output_open(struct output_file *file, const char *path, struct err *err);
/*
 * Closes the file. @rc is the result of the writes: 0 or -errno. After an error there is no new file.
 * Returns -EPIPE with @err untouched if the reader has closed the pipe.
 */
int output_close(struct output_file *file, int rc, struct err *err);

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
