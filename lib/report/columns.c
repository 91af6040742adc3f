/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the tables of a report from column specifications, and fills rows from structs. */
#include "report/columns.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void columns_f64(struct value *value, double f64)
{
	if (f64 >= 0 && f64 == floor(f64) && f64 < 0x1p63)
		value_u64(value, (uint64_t)f64);
	else
		value_f64(value, f64);
}

static void set_u64(struct value *value, uint64_t u64, uint64_t null, bool empty_is_null)
{
	if (u64 != null && (u64 || !empty_is_null))
		value_u64(value, u64);
}

static void set(struct value *value, const struct column_spec *spec, const void *from)
{
	const void *at = (const char *)from + spec->offset;
	bool empty_is_null = spec->flags & COLUMN_EMPTY_IS_NULL;

	if (spec->kind != COLUMN_BUCKET_TABLE)
		value_null(value);
	switch (spec->kind) {
	case COLUMN_U32:
		set_u64(value, *(const uint32_t *)at, UINT32_MAX, empty_is_null);
		break;
	case COLUMN_U64:
		set_u64(value, *(const uint64_t *)at, UINT64_MAX, empty_is_null);
		break;
	case COLUMN_F64:
		if (spec->flags & COLUMN_ROUND)
			columns_f64(value, round(*(const double *)at));
		else if (spec->flags & COLUMN_INTEGER)
			columns_f64(value, *(const double *)at);
		else
			value_f64(value, *(const double *)at);
		break;
	case COLUMN_BOOL:
		value_bool(value, *(const bool *)at);
		break;
	case COLUMN_BOOL3:
		if (*(const int8_t *)at >= 0)
			value_bool(value, *(const int8_t *)at);
		break;
	case COLUMN_STR:
		value_str(value, *(const char *const *)at);
		break;
	case COLUMN_CHARS:
		value_str(value, empty_is_null && !*(const char *)at ? NULL : at);
		break;
	case COLUMN_BUCKET_TABLE:
	case COLUMN_NUMBERED:
		break;
	}
}

void columns_digits(double percent, char digits[24])
{
	char *at = digits;

	snprintf(digits, 24, "%.9g", percent);
	for (const char *from = digits; *from; from++)
		if (*from != '.')
			*at++ = *from;
	*at = '\0';
}

static void add_percentiles(struct table *table, const struct column_spec *spec,
			    const double *percent, unsigned int nr)
{
	int before = (int)strcspn(spec->key, "N");

	array_for_each(p, percent, nr) {
		char digits[24], key[64], title[32];

		columns_digits(*p, digits);
		snprintf(key, sizeof(key), "%.*s%s%s", before, spec->key, digits,
			 spec->key + before + 1);
		snprintf(title, sizeof(title), "p%.9g", *p);
		table_col_as(table, spec->metric, key, title);
	}
}

static void add_column(struct table *table, const struct column_spec *spec)
{
	size_t col = table_col_as(table, spec->metric, spec->key, spec->title);

	if (col == SIZE_MAX)
		return;
	table->cols[col].spec = spec;
	table->cols[col].data_only = spec->flags & COLUMN_DATA_ONLY;
}

struct table *columns_percentiles(struct report *report, const struct table_spec *spec,
				  unsigned int have, const double *percent, unsigned int nr)
{
	struct table *table = report_table(report, spec->key, spec->title);

	array_for_each(col, spec->cols, spec->nr) {
		if (col->when && !(col->when & have))
			continue;
		if (col->kind == COLUMN_NUMBERED)
			add_percentiles(table, col, percent, nr);
		else
			add_column(table, col);
	}
	if (report->failed)
		return NULL;
	table->text_hidden = spec->text_hidden;
	table->rank = spec->rank;
	return table;
}

struct table *columns_table(struct report *report, const struct table_spec *spec, unsigned int have)
{
	return columns_percentiles(report, spec, have, NULL, 0);
}

void columns_fill(struct table *table, size_t row, const void *from)
{
	for (size_t i = 0; table && i < table->nr_cols; i++)
		if (table->cols[i].spec)
			set(table_cell(table, row, i), table->cols[i].spec, from);
}

size_t columns_row(struct table *table, const void *from)
{
	size_t row = table_row(table);

	if (row != SIZE_MAX)
		columns_fill(table, row, from);
	return row;
}

void columns_rows(struct report *report, const struct table_spec *spec, const void *structs,
		  size_t nr, size_t size)
{
	struct table *table = columns_table(report, spec, 0);

	for (size_t i = 0; i < nr; i++)
		columns_row(table, (const char *)structs + i * size);
}

void columns_set(struct report *report, const struct table_spec *spec, unsigned int have,
		 const void *from)
{
	struct table *table = spec->key[0] ? report->quality : report->fields;

	array_for_each(col, spec->cols, spec->nr) {
		struct value value = {0};

		if (col->when && !(col->when & have))
			continue;
		set(&value, col, from);
		if (value.kind == VALUE_NULL && col->flags & COLUMN_OPTIONAL)
			continue;
		/* Move the value into the cell, which then owns the memory of the value. */
		*(spec->key[0] ? report_quality : report_field)(report, col->metric) = value;
		if (!report->failed)
			table->cols[table->nr_cols - 1].data_only = col->flags & COLUMN_DATA_ONLY;
	}
}

static const struct column_spec bucket_columns[] = {
	COLUMN(struct bucket_row, M_BURST_LE_NS, le_ns),
	COLUMN(struct bucket_row, M_COUNT, count),
};
const struct table_spec buckets_table = TABLE("le", NULL, bucket_columns);

void columns_buckets(struct table *parent, size_t row, const struct bucket_row *buckets, size_t nr)
{
	int col = table_metric(parent, M_BUCKETS);
	const struct value *before = table_cell(parent, row - 1, col);
	struct table *table;

	if (before->kind == VALUE_TABLE) {
		table = table_nested_like(parent, row, col, before->table, nr);
	} else {
		table = table_nested(parent, row, col, buckets_table.key);
		array_for_each(spec, bucket_columns, ARRAY_SIZE(bucket_columns))
			add_column(table, spec);
		for (size_t i = 0; i < nr; i++)
			table_row(table);
	}
	for (size_t i = 0; table && i < table->nr_rows; i++)
		columns_fill(table, i, &buckets[i]);
}

static int descending(const void *a, const void *b)
{
	return CMP(*(const double *)b, *(const double *)a);
}

/* Finds the lowest rank that columns_top() keeps, and the number of kept rows with this rank. */
static int rank_limit(const struct table *table, size_t col, size_t most, double *ret_limit,
		      size_t *ret_equal)
{
	double *ranks = calloc(table->nr_rows, sizeof(*ranks));
	size_t above = 0;

	if (!ranks)
		return -ENOMEM;
	for (size_t row = 0; row < table->nr_rows; row++)
		ranks[row] = value_number(table_cell(table, row, col));
	qsort(ranks, table->nr_rows, sizeof(*ranks), descending);
	while (ranks[above] > ranks[most - 1])
		above++;
	*ret_limit = ranks[most - 1];
	*ret_equal = most - above;
	free(ranks);
	return 0;
}

static void table_top(struct report *report, struct table *table, size_t most)
{
	size_t col = table_find(table, table->rank), nr = table->nr_rows, equal, left = 0;
	double limit, largest = 0;

	if (rank_limit(table, col, most, &limit, &equal)) {
		report->failed = true;
		return;
	}
	for (size_t row = 0; row < nr; row++) {
		struct value *cells = table_cell(table, row, 0);
		double rank = value_number(&cells[col]);

		if (rank > limit || (rank == limit && equal && equal--)) {
			memmove(table_cell(table, left++, 0), cells,
				table->nr_cols * sizeof(*cells));
			continue;
		}
		largest = fmax(largest, rank);
		for (size_t i = 0; i < table->nr_cols; i++)
			value_null(&cells[i]);
	}
	table->nr_rows = left;
	report_note(report, "%s: %zu of %zu rows are left out, each with at most %.3g ms; "
			    "--top 0 shows all",
		    table->title ?: table->key, nr - left, nr, largest / 1e6);
}

void columns_top(struct report *report, size_t most)
{
	array_for_each(table, report->tables, report->nr_tables)
		if ((*table)->rank && (*table)->nr_rows > most)
			table_top(report, *table, most);
}
