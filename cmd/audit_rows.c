/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints each row of `subtick audit delays` when it is finished, and keeps the file of --save. */
#include "audit_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"

static int write_row(struct audit_rows *rows, const struct audit_delays *delays)
{
	struct report *report;
	struct err *err = &rows->failed;
	int width = rows->view->width, rc;

	/* JSON is one object per experiment: it is written at the end. */
	if (rows->view->format == VIEW_JSON)
		return 0;
	rc = rows->view->format == VIEW_CSV
		     ? audit_delays_row_report(rows->opts, rows->findings, delays, &report, err)
		     : audit_delays_line_report(delays, &report, err);
	if (rc)
		return rc;
	/* Not folded: a row that took two lines would repeat its headings each time. */
	rows->view->width = 0;
	rc = output_report(rows->view, report, err);
	rows->view->width = width;
	rows->gone = rc != 0;
	return rc;
}

/* To the disk before it gets its name: after a power cut the file is the old or the new one. */
static int sync_close(FILE *file, int rc)
{
	if (!rc && (fflush(file) || fsync(fileno(file))))
		rc = -errno;
	if (fclose(file) && !rc)
		rc = -errno;
	return rc;
}

static FILE *open_part(const char *path, char part[4096])
{
	FILE *file;
	int fd;

	if (snprintf(part, 4096, "%s.part", path) >= 4096) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (fd >= 0 && !file)
		close(fd);
	return file;
}

static int save(struct audit_rows *rows, const struct audit_delays *delays)
{
	struct view view = {.format = VIEW_JSON};
	struct report *report;
	char part[4096];
	int rc;

	rc = audit_delays_report(rows->opts, rows->findings, delays, &report, &rows->failed);
	if (rc)
		return rc;
	view.out = open_part(rows->save, part);
	rc = view.out ? sync_close(view.out, view_write(&view, report)) : -errno;
	report_free(report);
	if (!rc && rename(part, rows->save))
		rc = -errno;
	return rc ? err_set(&rows->failed, rc, "cannot write --save %s: %s", rows->save,
			    strerror(-rc))
		  : 0;
}

int audit_rows_check(const struct audit_rows *rows, struct err *err)
{
	char part[4096];
	FILE *file;

	if (!rows->save)
		return 0;
	file = open_part(rows->save, part);
	if (!file)
		return err_set(err, -errno, "cannot write --save %s: %s", rows->save,
			       strerror(errno));
	fclose(file);
	unlink(part);
	return 0;
}

bool audit_rows_done(void *arg, const struct audit_delays *delays)
{
	struct audit_rows *rows = arg;
	int rc = write_row(rows, delays);

	if (rows->save && save(rows, delays))
		return false;
	return !rc;
}

void audit_rows_free(struct audit_rows *rows)
{
	free(rows->earlier);
	*rows = (struct audit_rows){0};
}
