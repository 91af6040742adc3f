/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looks up tables and cells of a report by key, for views; a report from a file may lack any. */
#ifndef SUBTICK_REPORT_FIND_H
#define SUBTICK_REPORT_FIND_H

#include "report/report.h"

/* NULL if there is none; @report may be NULL. */
const struct table *report_find(const struct report *report, const char *key);
/* Never NULL: a null value if there is no such row or column. */
const struct value *table_get(const struct table *table, size_t row, const char *key);
/* NULL unless it is text. */
const char *table_str(const struct table *table, size_t row, const char *key);
/* NAN unless it is a number. */
double table_number(const struct table *table, size_t row, const char *key);

#endif
