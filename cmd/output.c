/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes reports and files; turns failed writes into errors. */
#include "output.h"

#include <errno.h>
#include <string.h>

#include "report/columns.h"

int output_report(struct view *view, struct report *report, struct err *err)
{
	int rc;

	if (report && view->top)
		columns_top(report, view->top);
	rc = report ? view_write(view, report) : 0;
	report_free(report);
	if (rc && rc != -EPIPE)
		err_set(err, rc, "cannot write: %s", strerror(-rc));
	return rc;
}

FILE *output_open(const char *path, struct err *err)
{
	FILE *out = fopen(path, "we");

	if (!out)
		err_set(err, -errno, "cannot write %s: %s", path, strerror(errno));
	return out;
}

int output_close(FILE *out, const char *path, int rc, struct err *err)
{
	if (fclose(out) && !rc)
		rc = -errno;
	return rc ? err_set(err, rc, "cannot write %s: %s", path, strerror(-rc)) : 0;
}
