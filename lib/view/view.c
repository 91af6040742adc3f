/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selects the format and checks that a report is written completely. */
#include "view/view.h"

#include <errno.h>

#include "view/output.h"

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
	struct output output;
	int rc = report_check(report);

	if (!rc)
		rc = output_begin(&output, view->out);
	if (rc)
		return rc;
	rc = output_end(&output, view_dispatch(view, report));
	if (!rc)
		view->written++;
	return rc;
}
