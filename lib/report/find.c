/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looks up tables and cells by their keys. */
#include "report/find.h"

#include <math.h>
#include <string.h>

const struct table *report_find(const struct report *report, const char *key)
{
	for (size_t i = 0; report && i < report->nr_tables; i++)
		if (report->tables[i]->key && !strcmp(report->tables[i]->key, key))
			return report->tables[i];
	return NULL;
}

const struct value *table_get(const struct table *table, size_t row, const char *key)
{
	static const struct value null = {.kind = VALUE_NULL};
	int col = table_find(table, key);

	return col < 0 || row >= table->nr_rows ? &null : table_cell(table, row, col);
}

const char *table_str(const struct table *table, size_t row, const char *key)
{
	const struct value *value = table_get(table, row, key);

	return value->kind == VALUE_STR ? value->str : NULL;
}

double table_number(const struct table *table, size_t row, const char *key)
{
	const struct value *value = table_get(table, row, key);

	if (value->kind == VALUE_U64)
		return (double)value->u64;
	return value->kind == VALUE_F64 ? value->f64 : NAN;
}
