/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports read back from the JSON that the views wrote. */
#ifndef SUBTICK_REPORT_READ_JSON_H
#define SUBTICK_REPORT_READ_JSON_H

#include <stddef.h>

#include "base/err.h"
#include "report/report.h"

/*
 * Reads the first report of @text; @ret_used says how much of it that was, so that the next one can be
 * read from there. -ENODATA when only blanks are left, -EINVAL with a reason in @err when it is not a
 * report. Keys find their metrics in the one list; a key that is not there gets its unit from its end.
 * What JSON does not carry (titles of tables, hints for text) is lost.
 */
int report_read_json(const char *text, size_t size, struct report **ret_report, size_t *ret_used,
		     struct err *err);

#endif
