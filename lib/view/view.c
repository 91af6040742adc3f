/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selects the format and checks that a report is written completely. */
#include "view/view.h"

#include <errno.h>

int output_begin(struct output *output, FILE *out)
{
	/* Use the C locale for numbers: a decimal comma would break CSV and SVG. */
	output->posix = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	if (!output->posix)
		return -errno;
	output->old = uselocale(output->posix);
	output->out = out;
	errno = 0;
	return 0;
}

int output_end(struct output *output, int rc)
{
	/* Most write errors appear at the flush. Earlier write errors have set errno. */
	int before = errno;

	if (!rc && fflush(output->out))
		rc = -errno;
	else if (!rc && ferror(output->out))
		rc = before ? -before : -EIO;
	uselocale(output->old);
	freelocale(output->posix);
	return rc;
}

int view_write(struct view *view, const struct report *report)
{
	static int (*const formats[])(struct view *view, const struct report *report) = {
		[VIEW_TEXT] = view_text,
		[VIEW_JSON] = view_json,
		[VIEW_CSV] = view_csv,
	};
	struct output output;
	int rc = report_check(report);

	if (!rc)
		rc = output_begin(&output, view->out);
	if (rc)
		return rc;
	rc = output_end(&output, formats[view->format](view, report));
	if (!rc)
		view->written++;
	return rc;
}
