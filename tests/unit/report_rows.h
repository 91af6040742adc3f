/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares cells, notes and the output of a report with expected text. */
#ifndef SUBTICK_TESTS_UNIT_REPORT_ROWS_H
#define SUBTICK_TESTS_UNIT_REPORT_ROWS_H

#include "test.h"

#include "view/view.h"

/* Formats a cell as text: null, true, false, a number or a string. */
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

/* Compares a row with @cells: "key=value key=value …", without blanks in the values. */
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

static inline void expect_cells(const struct report *report, const char *table, size_t row,
				const char *cells)
{
	expect_row(report_find(report, table), row, cells);
}

static inline char *text_of(struct view view, const struct report *report)
{
	char *text = NULL;
	size_t size;

	view.out = open_memstream(&text, &size);
	assert_non_null(view.out);
	assert_int_equal(view_write(&view, report), 0);
	fclose(view.out);
	return text;
}

/* Checks that @text contains @part. @part has single quotes in place of double quotes. */
static inline void expect_quoted(const char *text, const char *part)
{
	char *want = strdup(part);

	for (char *quote = want; (quote = strchr(quote, '\''));)
		*quote = '"';
	if (!strstr(text, want))
		fail_msg("%s\nlacks\n%s", text, want);
	free(want);
}

/* Checks that the JSON output of @report contains @part. */
static inline void expect_json(const struct report *report, const char *part)
{
	char *text = text_of((struct view){.format = VIEW_JSON}, report);

	expect_quoted(text, part);
	free(text);
}

static inline size_t times_in(const char *text, const char *what)
{
	size_t nr = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		nr++;
	}
	return nr;
}

static inline bool notes_say(const struct report *report, const char *words)
{
	for (size_t i = 0; i < report->nr_notes; i++)
		if (strstr(report->notes[i], words))
			return true;
	return false;
}

/*
 * Checks a report and frees it. @specs ends with NULL. The spec "table.row key=value …" compares
 * cells; the tables "fields" and "quality" have one row. The spec "table.rows N" compares the
 * number of rows. The spec "note words" expects a note that contains the words. The specs "no note
 * words" and "no table" expect that the note or the table is missing.
 */
static inline void expect_report(struct report *report, const char *const *specs)
{
	for (; *specs; specs++) {
		bool absent = !strncmp(*specs, "no ", 3);
		const char *spec = *specs + 3 * absent;
		const struct table *table;
		char key[32];
		int len;

		if (!strncmp(spec, "note ", 5)) {
			if (notes_say(report, spec + 5) == absent)
				fail_msg("%s", *specs);
			continue;
		}
		len = strcspn(spec, ".");
		snprintf(key, sizeof(key), "%.*s", len, spec);
		table = !strcmp(key, "fields")	  ? report->fields
			: !strcmp(key, "quality") ? report->quality
						  : report_find(report, key);
		spec += len + 1;
		if (absent)
			assert_null(table);
		else if (!strncmp(spec, "rows ", 5))
			assert_int_equal(table->nr_rows, strtoul(spec + 5, NULL, 10));
		else
			expect_row(table, strtoul(spec, NULL, 10), strchr(spec, ' ') + 1);
	}
	report_free(report);
}

/* EXPECT(report, spec, …) */
#define EXPECT(report, ...) expect_report(report, (const char *const[]){__VA_ARGS__, NULL})

#endif
