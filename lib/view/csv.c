/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes reports as CSV (RFC 4180, but with Unix line ends): one line per row of the report's
 * tables, or one line for a report without tables. The columns are time_unix_ns, window_ns, source,
 * the fields of the report, "table" if the report has several tables, the columns of all tables,
 * and quality.*. A key that several tables have is one column. A key that also occurs before the
 * tables gets the prefix "TABLE.". The header is written again when the columns change. Null is an
 * empty field. A nested table becomes "le=count;le=count".
 */
#include "view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/text.h"
#include "view/utf8.h"

struct csv_col {
	const char *prefix; /* prefix of the column name in the header, or NULL */
	const char *key;
};

struct csv {
	FILE *out;
	struct csv_col *cols; /* merged columns of all tables */
	size_t nr;
};

/* Quotes distinguish "" from null. Some CSV readers strip blanks, or use ";" as the separator. */
static bool csv_needs_quotes(const char *str)
{
	if (!*str)
		return true;
	for (; *str; str++)
		if ((unsigned char)*str <= ' ' || *str == 0x7f || strchr(",;\"", *str))
			return true;
	return false;
}

static int csv_text(FILE *out, const char *str)
{
	char *shown = utf8_printable(str, 0);
	const char *quote, *p = shown;

	if (!shown)
		return -ENOMEM;
	quote = csv_needs_quotes(shown) ? "\"" : "";
	fputs(quote, out);
	/* Spreadsheets treat text that starts with "=", "+", "-" or "@" as a formula. */
	if (*p && strchr("=+-@", *p))
		fprintf(out, "\\x%02x", *p++);
	for (; *p; p++) {
		if (*p == '"')
			fputc('"', out);
		fputc(*p, out);
	}
	fputs(quote, out);
	free(shown);
	return 0;
}

static int csv_nested(FILE *out, const struct table *table);

static int csv_value(FILE *out, const struct table *table, size_t row, size_t col)
{
	const struct value *value = table_cell(table, row, col);

	switch (value->kind) {
	case VALUE_NULL:
		break;
	case VALUE_U64:
		fprintf(out, "%" PRIu64, value->u64);
		break;
	case VALUE_F64:
		fprintf(out, view_is_whole(value, table->cols[col].metric->unit) ? "%.0f" : "%.9g",
			value->f64);
		break;
	case VALUE_BOOL:
		fputs(value->flag ? "true" : "false", out);
		break;
	case VALUE_STR:
		return csv_text(out, value->str);
	case VALUE_TABLE:
		return csv_nested(out, value->table);
	}
	return 0;
}

/* Writes a histogram, whose cells are numbers, as one field. */
static int csv_nested(FILE *out, const struct table *table)
{
	const char *quote = table->nr_rows == 1 ? "" : "\"";
	int rc = 0;

	fputs(quote, out);
	for (size_t row = 0; row < table->nr_rows; row++) {
		for (size_t col = 0; col < table->nr_cols; col++) {
			if (col || row)
				fputc(col ? '=' : ';', out);
			rc = rc ?: csv_value(out, table, row, col);
		}
	}
	fputs(quote, out);
	return rc;
}

/* Writes the values of a table with one row: the fields or the quality of a report. */
static int csv_values(FILE *out, const struct table *table)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < table->nr_cols; i++) {
		fputc(',', out);
		rc = csv_value(out, table, 0, i);
	}
	return rc;
}

static bool csv_has(const struct csv *csv, const char *key)
{
	array_for_each(col, csv->cols, csv->nr)
		if (!strcmp(col->key, key))
			return true;
	return false;
}

/* True if CSV prints @table separately. CSV prints a sum after its table, and no sentences. */
static bool is_listed(const struct table *table)
{
	return !table->sentences && !table->sum;
}

static size_t nr_tables(const struct report *report)
{
	size_t nr = 0;

	array_for_each(table, report->tables, report->nr_tables)
		nr += is_listed(*table);
	return nr;
}

static bool csv_key_used(const struct report *report, const char *key)
{
	return !strcmp(key, "time_unix_ns") || !strcmp(key, "window_ns") ||
	       !strcmp(key, "source") || (nr_tables(report) > 1 && !strcmp(key, "table")) ||
	       table_find(report->fields, key) >= 0;
}

static int csv_collect(struct csv *csv, const struct report *report)
{
	int rc = 0;

	for (size_t i = 0; i < report->nr_tables; i++) {
		const struct table *table = report->tables[i];

		if (!is_listed(table))
			continue;
		array_for_each(col, table->cols, table->nr_cols) {
			const char *prefix = csv_key_used(report, col->key) ? table->key : NULL;

			if (!csv_has(csv, col->key))
				rc = rc
					     ?: array_push(csv->cols, csv->nr,
							   (struct csv_col){prefix, col->key});
		}
	}
	return rc;
}

/* Writes the header unless the previous report had the same columns. */
static void csv_header(const struct csv *csv, struct view *view, const struct report *report)
{
	const struct table *fields = report->fields, *quality = report->quality;
	bool many = nr_tables(report) > 1;
	uint64_t hash = text_hash(HASH_START, many ? "table" : "");

	array_for_each(col, fields->cols, fields->nr_cols)
		hash = text_hash(hash, col->key);
	array_for_each(col, csv->cols, csv->nr)
		hash = text_hash(text_hash(hash, col->prefix ?: ""), col->key);
	array_for_each(col, quality->cols, quality->nr_cols)
		hash = text_hash(text_hash(hash, "quality"), col->key);
	if (view->written && hash == view->seen.columns)
		return;
	view->seen.columns = hash;
	fputs("time_unix_ns,window_ns,source", csv->out);
	array_for_each(col, fields->cols, fields->nr_cols)
		fprintf(csv->out, ",%s", col->key);
	fputs(many ? ",table" : "", csv->out);
	array_for_each(col, csv->cols, csv->nr)
		fprintf(csv->out, ",%s%s%s", col->prefix ?: "", col->prefix ? "." : "", col->key);
	array_for_each(col, quality->cols, quality->nr_cols)
		fprintf(csv->out, ",quality.%s", col->key);
	fputc('\n', csv->out);
}

/* Writes one line. @table is NULL for a report without tables. @name is for the column "table". */
static int csv_row(const struct csv *csv, const struct report *report, const struct table *table,
		   const char *name, size_t row)
{
	FILE *out = csv->out;
	int rc;

	fprintf(out, "%" PRIu64 ",", report->time_unix_ns);
	if (report->window_ns)
		fprintf(out, "%" PRIu64, report->window_ns);
	fputc(',', out);
	rc = (report->source ? csv_text(out, report->source) : 0)
		     ?: csv_values(out, report->fields);
	if (nr_tables(report) > 1)
		fprintf(out, ",%s", name);
	array_for_each(col, csv->cols, csv->nr) {
		int at = table_find(table, col->key);

		fputc(',', out);
		if (at >= 0)
			rc = rc ?: csv_value(out, table, row, at);
	}
	rc = rc ?: csv_values(out, report->quality);
	fputc('\n', out);
	return rc;
}

int view_csv(struct view *view, const struct report *report)
{
	struct csv csv = {.out = view->out};
	const char *name = "";
	int rc = csv_collect(&csv, report);

	if (!rc)
		csv_header(&csv, view, report);
	if (!rc && !nr_tables(report))
		rc = csv_row(&csv, report, NULL, NULL, 0);
	for (size_t i = 0; i < report->nr_tables; i++) {
		const struct table *table = report->tables[i];

		if (is_listed(table))
			name = table->key;
		/* Skip the sum of a table with only one row, because the sum equals this row. */
		if (table->sum && (!i || report->tables[i - 1]->nr_rows < 2))
			continue;
		for (size_t row = 0; !rc && !table->sentences && row < table->nr_rows; row++)
			rc = csv_row(&csv, report, table, name, row);
	}
	free(csv.cols);
	return rc;
}
