/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds and frees reports. */
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Dummy cell, to which callers write after a failed allocation. */
static __thread struct value scrap;

static char *copy_str(const char *str, bool *failed)
{
	char *copy = str ? strdup(str) : NULL;

	if (str && !copy)
		*failed = true;
	return copy;
}

static struct table *table_new(const char *key, const char *title, bool *failed)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table) {
		*failed = true;
		return NULL;
	}
	table->failed = failed;
	table->key = copy_str(key, failed);
	table->title = copy_str(title, failed);
	return table;
}

static void table_free(struct table *table);

/* Inline, because reports of many cgroups have millions of values, mostly numbers. */
static inline void value_drop(struct value *value)
{
	if (value->kind == VALUE_STR)
		free(value->str);
	else if (value->kind == VALUE_TABLE)
		table_free(value->table);
}

static void table_free(struct table *table)
{
	if (!table)
		return;
	array_for_each(value, table->cells, table->nr_rows * table->nr_cols)
		value_drop(value);
	free(table->cells);
	if (!table->borrows) {
		array_for_each(col, table->cols, table->nr_cols) {
			free(col->key);
			free(col->title);
		}
		free(table->cols);
		free(table->key);
		free(table->title);
	}
	free(table);
}

static inline void value_set(struct value *value, struct value new)
{
	value_drop(value);
	*value = new;
}

void value_null(struct value *value)
{
	value_set(value, (struct value){.kind = VALUE_NULL});
}

void value_u64(struct value *value, uint64_t u64)
{
	value_set(value, (struct value){VALUE_U64, .u64 = u64});
}

void value_f64(struct value *value, double f64)
{
	/* The value -0.0 is stored as 0.0. */
	value_set(value, (struct value){isfinite(f64) ? VALUE_F64 : VALUE_NULL,
					.f64 = f64 == 0 ? 0 : f64});
}

void value_bool(struct value *value, bool flag)
{
	value_set(value, (struct value){VALUE_BOOL, .flag = flag});
}

void value_str(struct value *value, const char *str)
{
	/* If strdup() fails, the string is NULL, and report_check() reports the failure. */
	value_set(value, (struct value){str ? VALUE_STR : VALUE_NULL, .str = str ? strdup(str) : NULL});
}

struct report *report_new(const char *command)
{
	struct report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	report->command = copy_str(command, &report->failed);
	report->fields = table_new("fields", NULL, &report->failed);
	report->quality = table_new("quality", NULL, &report->failed);
	return report;
}

void report_free(struct report *report)
{
	if (!report)
		return;
	array_for_each(table, report->tables, report->nr_tables)
		table_free(*table);
	array_for_each(note, report->notes, report->nr_notes)
		free(*note);
	table_free(report->fields);
	table_free(report->quality);
	free(report->tables);
	free(report->notes);
	free(report->command);
	free(report->source);
	free(report);
}

static bool table_is_whole(const struct table *table)
{
	array_for_each(value, table->cells, table->nr_rows * table->nr_cols) {
		if (value->kind == VALUE_STR && !value->str)
			return false;
		if (value->kind == VALUE_TABLE && !table_is_whole(value->table))
			return false;
	}
	return true;
}

int report_check(const struct report *report)
{
	if (!report || report->failed || !table_is_whole(report->fields) ||
	    !table_is_whole(report->quality))
		return -ENOMEM;
	array_for_each(table, report->tables, report->nr_tables)
		if (!table_is_whole(*table))
			return -ENOMEM;
	return 0;
}

int report_finish(struct report *report, struct report **ret_report)
{
	int rc = report_check(report);

	if (rc)
		report_free(report);
	else
		*ret_report = report;
	return rc;
}

struct report *report_begin(const char *command, uint64_t time_unix_ns, uint64_t window_ns,
			    const char *source)
{
	struct report *report = report_new(command);

	if (!report)
		return NULL;
	report->time_unix_ns = time_unix_ns;
	report->window_ns = window_ns;
	report->source = copy_str(source, &report->failed);
	return report;
}

void report_note(struct report *report, const char *fmt, ...)
{
	char *note;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&note, fmt, ap) < 0)
		note = NULL;
	va_end(ap);
	if (note && !array_push(report->notes, report->nr_notes, note))
		return;
	report->failed = true;
	free(note);
}

struct table *report_table(struct report *report, const char *key, const char *title)
{
	struct table *table = table_new(key, title, &report->failed);

	if (table && !array_push(report->tables, report->nr_tables, table))
		return table;
	report->failed = true;
	table_free(table);
	return NULL;
}

struct table *table_nested(struct table *parent, size_t row, size_t col, const char *key)
{
	struct value *cell = table_cell(parent, row, col);
	struct table *table = cell == &scrap ? NULL : table_new(key, NULL, parent->failed);

	if (table)
		value_set(cell, (struct value){VALUE_TABLE, .table = table});
	return table;
}

struct table *table_nested_like(struct table *parent, size_t row, size_t col,
				const struct table *like, size_t rows)
{
	struct value *cell = table_cell(parent, row, col);
	struct table *table;

	if (cell == &scrap)
		return NULL;
	table = malloc(sizeof(*table));
	if (!table) {
		*parent->failed = true;
		return NULL;
	}
	*table = *like;
	table->borrows = true;
	table->nr_rows = rows;
	table->cells = calloc(rows * like->nr_cols + 1, sizeof(*table->cells));
	if (!table->cells) {
		*parent->failed = true;
		table->nr_rows = 0;
	}
	value_set(cell, (struct value){VALUE_TABLE, .table = table});
	return table;
}

size_t table_col_as(struct table *table, enum metric_id id, const char *key, const char *title)
{
	const struct metric *metric = metric_get(id);

	/* Refuse to add a column after the first row, because every cell would have to be moved. */
	if (!table || !metric || table->nr_rows)
		return SIZE_MAX;
	if (array_push(table->cols, table->nr_cols,
		       (struct column){.metric = metric,
				       .key = copy_str(key ?: metric->key, table->failed),
				       .title = copy_str(title ?: metric->title, table->failed)})) {
		*table->failed = true;
		return SIZE_MAX;
	}
	return table->nr_cols - 1;
}

size_t table_col(struct table *table, enum metric_id id)
{
	return table_col_as(table, id, NULL, NULL);
}

size_t table_row(struct table *table)
{
	struct value *cells;

	if (!table || !table->nr_cols)
		return SIZE_MAX;
	cells = grow(table->cells, table->nr_rows, table->nr_cols * sizeof(*cells));
	if (!cells) {
		*table->failed = true;
		return SIZE_MAX;
	}
	table->cells = cells;
	memset(&cells[table->nr_rows * table->nr_cols], 0, table->nr_cols * sizeof(*cells));
	return table->nr_rows++;
}

struct value *table_cell(const struct table *table, size_t row, size_t col)
{
	if (!table || row >= table->nr_rows || col >= table->nr_cols) {
		value_null(&scrap);
		return &scrap;
	}
	return &table->cells[row * table->nr_cols + col];
}

int table_find(const struct table *table, const char *key)
{
	for (size_t i = 0; table && i < table->nr_cols; i++)
		if (table->cols[i].key && !strcmp(table->cols[i].key, key))
			return i;
	return -1;
}

int table_metric(const struct table *table, enum metric_id id)
{
	for (size_t i = 0; table && i < table->nr_cols; i++)
		if (table->cols[i].metric == metric_get(id))
			return i;
	return -1;
}

/*
 * Appends a column and its cell to a table that has at most one row. If out of memory, returns the
 * dummy cell.
 */
static struct value *single(struct table *table, enum metric_id id)
{
	struct value *cells = table ? grow(table->cells, table->nr_cols, sizeof(*cells)) : NULL;
	size_t col;

	if (table && !cells)
		*table->failed = true;
	if (!cells)
		return table_cell(NULL, 0, 0);
	table->cells = cells;
	table->nr_rows = 0;
	col = table_col(table, id);
	table->nr_rows = table->nr_cols ? 1 : 0;
	if (col != SIZE_MAX)
		cells[col] = (struct value){.kind = VALUE_NULL};
	return table_cell(table, 0, col);
}

bool report_head_key(const char *key, size_t len)
{
	static const char *const head[] = {"schema", "time_unix_ns", "window_ns",
					   "source", "quality",	     "notes"};

	array_for_each(name, head, ARRAY_SIZE(head))
		if (strlen(*name) == len && !strncmp(key, *name, len))
			return true;
	return false;
}

struct value *report_field(struct report *report, enum metric_id id)
{
	return single(report->fields, id);
}

struct value *report_quality(struct report *report, enum metric_id id)
{
	return single(report->quality, id);
}

const struct table *report_find(const struct report *report, const char *key)
{
	array_for_each(table, report ? report->tables : NULL, report ? report->nr_tables : 0)
		if ((*table)->key && !strcmp((*table)->key, key))
			return *table;
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

double value_number(const struct value *value)
{
	if (value->kind == VALUE_U64)
		return (double)value->u64;
	return value->kind == VALUE_F64 ? value->f64 : NAN;
}

double table_number(const struct table *table, size_t row, const char *key)
{
	return value_number(table_get(table, row, key));
}
