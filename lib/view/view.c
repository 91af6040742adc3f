/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selects the format and checks that a report is written completely. */
#include "view/view.h"

#include <errno.h>
#include <locale.h>

static int view_dispatch(struct view *view, const struct report *report)
{
	switch (view->format) {
	case VIEW_TEXT:
		return view_text(view, report);
	case VIEW_JSON:
		return view_json(view, report);
	case VIEW_CSV:
		return view_csv(view, report);
	}
	return -EINVAL;
}

int view_write(struct view *view, const struct report *report)
{
	locale_t posix, old;
	int before, rc = report_check(report);

	if (rc)
		return rc;
	/* A decimal comma would break CSV, and people compare text of different machines. */
	posix = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	if (!posix)
		return -errno;
	old = uselocale(posix);

	errno = 0;
	rc = view_dispatch(view, report);
	/* Most write errors show only at the flush; earlier ones have set errno. */
	before = errno;
	if (!rc && fflush(view->out))
		rc = -errno;
	else if (!rc && ferror(view->out))
		rc = before ? -before : -EIO;

	uselocale(old);
	freelocale(posix);
	if (!rc)
		view->written++;
	return rc;
}
