/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads reports back from the JSON of the views. */
#ifndef SUBTICK_REPORT_READ_JSON_H
#define SUBTICK_REPORT_READ_JSON_H

#include <stddef.h>

#include "base/err.h"
#include "report/report.h"

/*
 * Reads the first report of @text; @ret_used is its length, so that the next one can be read from
 * there. -ENODATA if only blanks are left, -EINVAL with the reason in @err if it is not a report.
 * A key that is not in the list of metrics gets its unit from its suffix. Titles of tables and
 * hints for text are not in JSON and are lost.
 */
int report_read_json(const char *text, size_t size, struct report **ret_report, size_t *ret_used,
		     struct err *err);

#endif
