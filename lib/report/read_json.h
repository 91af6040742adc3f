/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads reports back from the JSON of the views. */
#ifndef SUBTICK_REPORT_READ_JSON_H
#define SUBTICK_REPORT_READ_JSON_H

#include <stddef.h>

#include "base/err.h"
#include "report/report.h"

/*
 * Reads the first report of @text. @ret_used is the length of the report; the next report starts
 * there. -ENODATA if @text is blank, -EINVAL with the reason in @err if @text is not a report. A
 * key that is not in the list of metrics gets its unit from its suffix. The report has no table
 * titles and no hints for text, because JSON does not contain them.
 */
int report_read_json(const char *text, size_t size, struct report **ret_report, size_t *ret_used,
		     struct err *err);

#endif
