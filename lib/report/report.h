/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The result of one window, independent of the output format: the only input of views. */
#ifndef SUBTICK_REPORT_H
#define SUBTICK_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	const struct column_spec *spec; /* see columns.h; NULL: the caller fills the cells */
	char *key; /* the metric's, unless renamed: "p99_ns" */
	char *title;
	bool data_only; /* in JSON and CSV, not in text */
};

/* Columns first, then rows; a new row is all null. */
struct table {
	char *key;   /* JSON name of the list */
	char *title; /* heading in text, NULL for none */
	struct column *cols;
	size_t nr_cols;
	struct value *cells; /* nr_rows × nr_cols */
	size_t nr_rows;
	/*
	 * Text hint: columns [bar_first, bar_end) are shares of one whole, in order, that a
	 * terminal may draw as one stacked bar per row. Equal: no bar.
	 */
	size_t bar_first, bar_end;
	/*
	 * Columns [parts_first, parts_end) are parts of one sum: text shows the largest of them in
	 * one column, all of them with --wide. Equal: none.
	 */
	size_t parts_first, parts_end;
	const char *rank; /* key of the column by which columns_top() ranks rows; NULL if it keeps all */
	bool text_hidden; /* in text only on request, such as with --all */
	bool sentences;	  /* rows are sentences: no table in text, and not in CSV */
	bool sum;	  /* one row, the sum of the table before; text shows it on top of those */
	bool borrows;	  /* shares key, title and columns with another table of the report */
	bool *failed;	  /* the out-of-memory flag of the report */
};

struct report {
	char *command; /* schema is "subtick.<command>/1" */
	char *source;  /* where the figures come from; NULL if that does not apply */
	uint64_t time_unix_ns;
	uint64_t window_ns;
	struct table *fields;  /* one row: further top-level keys */
	struct table *quality; /* one row: losses, errors, flags */
	struct table **tables;
	size_t nr_tables;
	char **notes; /* sentences for people, such as which source and why */
	size_t nr_notes;
	bool failed; /* an allocation failed; never reset */
};

/*
 * After an allocation failure the setters do nothing, so callers need not check each step:
 * report_check() reports the failure at the end.
 */
struct report *report_new(const char *command);
void report_free(struct report *report);
/* 0, or -ENOMEM if any allocation failed. */
int report_check(const struct report *report);
/* The end of every function that makes a report: passes it on, or frees it if it is incomplete. */
int report_finish(struct report *report, struct report **ret_report);
void report_source(struct report *report, const char *source);
void report_note(struct report *report, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Whether every report has that key at its top: schema, window_ns and so on. */
bool report_head_key(const char *key, size_t len);
/* Cells of top-level keys and of quality keys; set each key once. */
struct value *report_field(struct report *report, enum metric_id id);
struct value *report_quality(struct report *report, enum metric_id id);

struct table *report_table(struct report *report, const char *key, const char *title);
/* Makes a table the value of a cell; it is freed with the cell. */
struct table *table_nested(struct table *parent, size_t row, size_t col, const char *key);
/* Like table_nested(), with key and columns of @like in the same report, and @rows rows of nulls. */
struct table *table_nested_like(struct table *parent, size_t row, size_t col,
				const struct table *like, size_t rows);
size_t table_col(struct table *table, enum metric_id id);
/* Adds a metric under another key and title, for families such as percentiles. */
size_t table_col_as(struct table *table, enum metric_id id, const char *key, const char *title);
size_t table_row(struct table *table);
/* Never NULL: after a failure, or out of range, a dummy cell. */
struct value *table_cell(const struct table *table, size_t row, size_t col);
/* The column with that key, or -1. */
int table_find(const struct table *table, const char *key);
/* The first column with that metric, or -1. */
int table_metric(const struct table *table, enum metric_id id);

/*
 * Look up by key; a report from a file may lack any. The table, or NULL; @report may be NULL.
 */
const struct table *report_find(const struct report *report, const char *key);
/* Never NULL: a null value if there is no such row or column. */
const struct value *table_get(const struct table *table, size_t row, const char *key);
/* NULL unless it is text. */
const char *table_str(const struct table *table, size_t row, const char *key);
/* NAN unless it is a number. */
double table_number(const struct table *table, size_t row, const char *key);

void value_null(struct value *value);
void value_u64(struct value *value, uint64_t u64);
/* NaN and infinities become null: JSON cannot express them. */
void value_f64(struct value *value, double f64);
void value_bool(struct value *value, bool flag);
void value_str(struct value *value, const char *str);
/* NAN unless it is a number. */
double value_number(const struct value *value);

#endif
