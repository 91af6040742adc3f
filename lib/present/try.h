/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of `subtick try`. */
#ifndef SUBTICK_PRESENT_TRY_H
#define SUBTICK_PRESENT_TRY_H

#include "measure/try/try.h"
#include "report/columns.h"

extern const struct table_spec *const try_tables[]; /* NULL-terminated list of all tables */

int try_report(const struct try_opts *opts, const struct try_window *window,
	       struct report **ret_report);

#endif
