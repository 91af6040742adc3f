/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fills the row of a check. */
#include "doctor/check.h"

#include <stdarg.h>
#include <stdio.h>

void doctor_set(struct doctor_row *row, enum doctor_status status, const char *fix, const char *fmt,
		...)
{
	va_list ap;

	row->status = status;
	va_start(ap, fmt);
	vsnprintf(row->detail, sizeof(row->detail), fmt, ap);
	va_end(ap);
	snprintf(row->fix, sizeof(row->fix), "%s", fix ? fix : "");
}
