/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares cells and notes of a report with expected text. */
#ifndef SUBTICK_TESTS_UNIT_REPORT_ROWS_H
#define SUBTICK_TESTS_UNIT_REPORT_ROWS_H

#include "test.h"

#include "report/report.h"

/* A cell as text: null, true, false, a number or a string. */
static inline void cell_format(const struct value *value, char *buf, size_t size)
{
	switch (value->kind) {
	case VALUE_U64:
		snprintf(buf, size, "%llu", (unsigned long long)value->u64);
		break;
	case VALUE_F64:
		snprintf(buf, size, "%.9g", value->f64);
		break;
	case VALUE_STR:
		snprintf(buf, size, "%s", value->str);
		break;
	default:
		snprintf(buf, size, "%s", value->kind == VALUE_BOOL ? value->flag ? "true" : "false" : "null");
	}
}

/* @cells is "key=value key=value …", with values as printed by cell_format() and without blanks. */
static inline void expect_row(const struct table *table, size_t row, const char *cells)
{
	char *copy = strdup(cells), *rest = copy, *cell;

	assert_true(table && row < table->nr_rows);
	while ((cell = strsep(&rest, " "))) {
		char *want = strchr(cell, '='), is[256];

		*want++ = '\0';
		if (table_find(table, cell) < 0)
			fail_msg("%s has no column %s", table->key, cell);
		cell_format(table_get(table, row, cell), is, sizeof(is));
		if (strcmp(is, want))
			fail_msg("%s, row %zu: %s is %s, not %s", table->key, row, cell, is, want);
	}
	free(copy);
}

/* Compares a row of the named table of @report with @cells. */
static inline void expect_cells(const struct report *report, const char *table, size_t row,
				const char *cells)
{
	expect_row(report_find(report, table), row, cells);
}

static inline bool notes_say(const struct report *report, const char *words)
{
	for (size_t i = 0; i < report->nr_notes; i++)
		if (strstr(report->notes[i], words))
			return true;
	return false;
}

#endif
