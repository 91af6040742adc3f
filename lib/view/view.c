/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selects the format and checks that a report is written completely. */
#include "view/view.h"

#include "view/output.h"

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
