/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes a report as text, JSON or CSV. */
#include "view/view.h"

#include <errno.h>

int stream_end(FILE *out, int rc)
{
	/* If a write failed before fflush(), errno still contains the error code of the write. */
	int before = errno;

	if (!rc && fflush(out))
		rc = -errno;
	else if (!rc && ferror(out))
		rc = before ? -before : -EIO;
	return rc;
}

int view_write(struct view *view, const struct report *report)
{
	static int (*const formats[])(struct view *view, const struct report *report) = {
		[VIEW_TEXT] = view_text,
		[VIEW_JSON] = view_json,
		[VIEW_CSV] = view_csv,
	};
	int rc = report_check(report);

	if (!rc)
		rc = stream_end(view->out, formats[view->format](view, report));
	view->written += !rc;
	return rc;
}
