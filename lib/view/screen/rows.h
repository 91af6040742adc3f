/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which rows of a table are shown, in which order. */
#ifndef SUBTICK_VIEW_SCREEN_ROWS_H
#define SUBTICK_VIEW_SCREEN_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "report/report.h"

#define SCREEN_OWN_ORDER (-1)

/* Whether a column is shown; with @all also those of the data formats only. */
bool screen_col_shown(const struct table *table, size_t col, bool all);
/* The default order: figures descending, names and identifiers ascending. */
bool screen_col_descends(const struct table *table, size_t col);

/*
 * The rows whose names contain @filter, in upper or lower case, sorted by column @sort or in the
 * report's order. Unavailable values are always last. Equal rows keep the report's order. Returns
 * their number, or -ENOMEM.
 */
long screen_rows(const struct table *table, const char *filter, int sort, bool descending,
		 size_t **ret_rows);

#endif
