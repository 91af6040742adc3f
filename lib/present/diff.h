/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of `subtick diff`: changes between two files of windows. */
#ifndef SUBTICK_PRESENT_DIFF_H
#define SUBTICK_PRESENT_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "report/columns.h"

/* All windows that were read from one saved file. */
struct diff_side {
	const char *file;
	struct report **windows;
	size_t nr; /* number of elements of `windows`, at least 1 */
};

extern const struct table_spec *const diff_tables[];

/*
 * Compares two output files of one command (load, runq, noise, wake, wake.points or crit), before
 * and after a change. If @all is false, the report has rows only for changed figures. If no figure
 * has enough samples for a comparison, the report has rows for all figures. Returns -EINVAL if the
 * files cannot be compared.
 */
int diff_report(const struct diff_side sides[2], bool all, struct report **ret_report,
		struct err *err);

#endif
