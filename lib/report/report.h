/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The result of one window, independent of the output format: the only input of views. */
#ifndef SUBTICK_REPORT_H
#define SUBTICK_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "report/metrics.h"

enum value_kind {
	VALUE_NULL, /* unavailable: JSON null, never 0 */
	VALUE_U64,
	VALUE_F64,
	VALUE_BOOL,
	VALUE_STR,
	VALUE_TABLE,
};

struct value {
	enum value_kind kind;
	union {
		uint64_t u64;
		double f64;
		bool flag;
		char *str;
		struct table *table;
	};
};

struct column {
	const struct metric *metric;
	const struct column_spec *spec; /* see columns.h; NULL if the caller fills the cells */
	char *key; /* the metric's key, or another key such as "p99_ns" */
	char *title;
	bool data_only; /* in JSON and CSV, not in text */
};

/* A table. Add all columns before the first row. Cells of a new row are null. */
struct table {
	char *key;   /* JSON name of the list */
	char *title; /* heading in text, or NULL for no heading */
	struct column *cols;
	size_t nr_cols;
	struct value *cells; /* nr_rows × nr_cols */
	size_t nr_rows;
	/*
	 * Hint for text: columns [bar_first, bar_end) are shares of one whole, drawn as one stacked
	 * bar per row. No bar if bar_first equals bar_end.
	 */
	size_t bar_first, bar_end;
	/*
	 * Columns [parts_first, parts_end) are parts of one sum. Text shows the largest parts in
	 * one column, or all parts with --wide. No parts if parts_first equals parts_end.
	 */
	size_t parts_first, parts_end;
	/* Key of the column by which columns_top() ranks rows, or NULL to keep all rows. */
	const char *rank;
	bool text_hidden; /* shown in text only on request, such as with --all */
	bool sentences;	  /* rows are sentences: not a table in text, and omitted from CSV */
	/*
	 * The single row is the sum of the previous table; text prints the sum above that table's
	 * rows.
	 */
	bool sum;
	bool borrows;	  /* shares key, title and columns with another table of the report */
	bool *failed;	  /* the out-of-memory flag of the report */
};

struct report {
	char *command; /* schema is "subtick.<command>/1" */
	char *source;  /* data source of the figures, or NULL */
	uint64_t time_unix_ns;
	uint64_t window_ns;
	struct table *fields;  /* one row with the other top-level keys */
	struct table *quality; /* one row with losses, errors and flags */
	struct table **tables;
	size_t nr_tables;
	char **notes; /* sentences for people, such as which source and why */
	size_t nr_notes;
	bool failed; /* an allocation failed; never reset */
};

/*
 * After an allocation failure all setters do nothing. Callers need only one check: report_check()
 * returns the failure.
 */
struct report *report_new(const char *command);
void report_free(struct report *report);
/* Returns 0, or -ENOMEM if any allocation failed. */
int report_check(const struct report *report);
/*
 * Completes a report: returns the report in @ret_report, or frees the report and returns -ENOMEM if
 * it is incomplete.
 */
int report_finish(struct report *report, struct report **ret_report);
void report_source(struct report *report, const char *source);
void report_note(struct report *report, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* True for a top-level key of every report: schema, window_ns and so on. */
bool report_head_key(const char *key, size_t len);
/* Cell of a new top-level key or quality key. Set each key only once. */
struct value *report_field(struct report *report, enum metric_id id);
struct value *report_quality(struct report *report, enum metric_id id);

struct table *report_table(struct report *report, const char *key, const char *title);
/* Makes a new table the value of a cell. The nested table is freed with the cell. */
struct table *table_nested(struct table *parent, size_t row, size_t col, const char *key);
/*
 * Like table_nested(), with the key and columns of @like and @rows rows of nulls. @like must be in
 * the same report.
 */
struct table *table_nested_like(struct table *parent, size_t row, size_t col,
				const struct table *like, size_t rows);
size_t table_col(struct table *table, enum metric_id id);
/* Adds a column for a metric with another key and title, for example for percentiles. */
size_t table_col_as(struct table *table, enum metric_id id, const char *key, const char *title);
size_t table_row(struct table *table);
/* Cell at @row and @col. Never NULL: a dummy cell after a failure or out of range. */
struct value *table_cell(const struct table *table, size_t row, size_t col);
/* Index of the column with that key, or -1. */
int table_find(const struct table *table, const char *key);
/* Index of the first column with that metric, or -1. */
int table_metric(const struct table *table, enum metric_id id);

/* Table with that key, or NULL. @report may be NULL. A report from a file may lack any table. */
const struct table *report_find(const struct report *report, const char *key);
/*
 * Value in @row of the column with that key. Never NULL: a null value if the row or column is
 * missing.
 */
const struct value *table_get(const struct table *table, size_t row, const char *key);
/* Text of a cell by key, or NULL if the value is not text. */
const char *table_str(const struct table *table, size_t row, const char *key);
/* Numeric value, or NAN if the value is not a number. */
double table_number(const struct table *table, size_t row, const char *key);

void value_null(struct value *value);
void value_u64(struct value *value, uint64_t u64);
/* Sets a real. NaN and infinities become null, because JSON has no notation for them. */
void value_f64(struct value *value, double f64);
void value_bool(struct value *value, bool flag);
void value_str(struct value *value, const char *str);
/* Numeric value, or NAN if the value is not a number. */
double value_number(const struct value *value);

/*
 * Reads the first report of @text. @ret_used is the length of the report; the next report starts
 * there. -ENODATA if @text is blank, -EINVAL with the reason in @err if @text is not a report. A
 * key that is not in the list of metrics gets its unit from its suffix. The report has no table
 * titles and no hints for text, because JSON does not contain them.
 */
int report_read_json(const char *text, size_t size, struct report **ret_report, size_t *ret_used,
		     struct err *err);

#endif
