/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes reports and files, and reads saved reports. */
#ifndef SUBTICK_CMD_OUTPUT_H
#define SUBTICK_CMD_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "present/diff.h"
#include "report/report.h"
#include "view/view.h"

/*
 * Writes and frees @report, which may be NULL. Returns -EPIPE without setting @err if the reader
 * closed the pipe.
 */
int output_report(struct view *view, struct report *report, struct err *err);
/*
 * Writes and frees @report. If @before has windows, also writes the changes from @before to @now.
 * @now and @report may be the same report.
 */
int output_against(struct view *view, struct report *report, const struct diff_side *before,
		   struct report *now, struct err *err);
/*
 * An output file. The file is written under a temporary name, synced and renamed, so that a full
 * disk or a power failure leaves no incomplete file. Links, terminals, devices and named pipes are
 * written directly, without a temporary name.
 */
struct output_file {
	const char *path; /* path of the file; "-" is standard output */
	FILE *out;
	char part[4096]; /* temporary name of the file; "" if the file is written directly */
};

/* Checks that @path can be written, but creates no file. @path may be NULL. */
int output_check(const char *path, struct err *err);
int output_open(struct output_file *file, const char *path, struct err *err);
/*
 * Closes an output file. @rc is the result of the writes: 0 or -errno. If @rc or closing the file
 * is an error, a newly created file is removed. Returns -EPIPE without setting @err if the reader
 * closed the pipe.
 */
int output_close(struct output_file *file, int rc, struct err *err);
int output_view(const char *path, enum view_format format, const struct report *report,
		struct err *err);

/* Writes one line with host, kernel, architecture, CPUs and the version of subtick. */
void output_machine(char *buf, size_t size);

/* Reads a file or pipe of less than 256 MiB into an allocated string. Returns NULL on failure. */
char *input_read(const char *path, size_t *ret_size, struct err *err);
int input_report(const char *path, struct report **ret_report, struct err *err);
/* Reads at least one report of a JSON file. Free the reports with input_reports_free(). */
int input_reports(const char *path, struct report ***ret_reports, size_t *ret_nr, struct err *err);
void input_reports_free(struct report **reports, size_t nr);
/* Reads the file of option --against: saved output or saved measured points of @command. */
int input_against(const char *path, const char *command, struct diff_side *ret_side,
		  struct err *err);

#endif
