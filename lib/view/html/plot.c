/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws one plot of a report, with the series that the report has. */
#include "view/html/html.h"

#include <math.h>
#include <string.h>

#define MAX_SERIES 16

static bool row_matches(const struct table *table, size_t row, const struct svg_series *series)
{
	const char *str;
	char number[24];

	if (!series->where)
		return true;
	str = table_str(table, row, series->where);
	if (str)
		return !strcmp(str, series->equals);
	snprintf(number, sizeof(number), "%.15g", table_number(table, row, series->where));
	return !strcmp(number, series->equals);
}

bool html_series_fits(const struct report *report, const struct svg_series *series)
{
	const struct table *table = report_find(report, series->table), *inner = table;
	size_t found = 0;
	int nested;

	if (!table || (series->where && table_find(table, series->where) < 0))
		return false;
	for (size_t row = 0; row < table->nr_rows; row++)
		found += row_matches(table, row, series);
	if (!found)
		return false;
	if (series->nested) {
		nested = table_find(table, series->nested);
		if (nested < 0)
			return false;
		for (size_t row = 0; row < table->nr_rows; row++) {
			const struct value *value = table_cell(table, row, nested);

			if (!row_matches(table, row, series))
				continue;
			if (value->kind != VALUE_TABLE)
				return false;
			inner = value->table;
			if (table_find(inner, series->x) < 0 || table_find(inner, series->y) < 0)
				return false;
		}
		return true;
	}
	return table_find(inner, series->x) >= 0 && table_find(inner, series->y) >= 0 &&
	       (!series->x_end || table_find(inner, series->x_end) >= 0);
}

int html_plot(FILE *out, const struct report *report, const struct svg_plot *wanted)
{
	struct svg_series series[MAX_SERIES];
	struct svg_plot one = *wanted;
	int rc;

	one.series = series;
	one.nr_series = 0;
	for (size_t i = 0; i < wanted->nr_series && one.nr_series < MAX_SERIES; i++)
		if (html_series_fits(report, &wanted->series[i]))
			series[one.nr_series++] = wanted->series[i];
	if (!one.nr_series)
		return 0;
	fputs("<figure>\n", out);
	rc = svg_write(out, report, &one, 1);
	fputs("</figure>\n", out);
	return rc;
}
