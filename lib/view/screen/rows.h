/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which rows of a table are shown, in which order. */
#ifndef SUBTICK_VIEW_SCREEN_ROWS_H
#define SUBTICK_VIEW_SCREEN_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "report/report.h"

#define SCREEN_OWN_ORDER (-1)

/* Whether a column is for people; @all adds those that are only in the data formats. */
bool screen_col_shown(const struct table *table, size_t col, bool all);
/* Largest first is what is looked for in figures; names and numbers of things go upwards. */
bool screen_col_descends(const struct table *table, size_t col);

/*
 * Rows in which @filter occurs, in any name, whatever its case; by column @sort, or as the
 * report has them. Unavailable values come last either way. Rows that are equal keep the
 * order of the report. Returns their number, or -ENOMEM.
 */
long screen_rows(const struct table *table, const char *filter, int sort, bool descending,
		 size_t **ret_rows);

#endif
