/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Report: the result of one measured window, independent of the output format. */
#ifndef SUBTICK_REPORT_H
#define SUBTICK_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "report/metrics.h"

enum value_kind {
	VALUE_NULL, /* unavailable value, which is null in JSON */
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
	/* specification for columns_fill(), or NULL if the caller fills the cells */
	const struct column_spec *spec;
	/* key and title of the metric, or of the caller, such as "p99_ns" and "p99" */
	char *key, *title;
	bool data_only; /* the column is in JSON and CSV, but not in text */
};

/* All columns must be added before the first row. Cells of a new row are null. */
struct table {
	char *key;   /* JSON key of the table */
	char *title; /* heading of the table in text output, or NULL */
	struct column *cols;
	size_t nr_cols;
	struct value *cells; /* array of nr_rows × nr_cols cells */
	size_t nr_rows;
	/* Text output draws columns [bar_first, bar_end) as one stacked bar per row. */
	size_t bar_first, bar_end;
	/*
	 * Columns [parts_first, parts_end) are parts of one sum. Text output without --wide shows
	 * only the largest parts, in one column.
	 */
	size_t parts_first, parts_end;
	const char *rank; /* key of the column that ranks the rows for columns_top(), or NULL */
	bool text_hidden;
	bool sentences; /* CSV omits the rows, and text output prints the rows without a table */
	bool sum;	/* the only row sums up the previous table; text shows the row on top */
	/* true if another table of the report owns and frees key, title and columns */
	bool borrows;
	bool *failed; /* pointer to the out-of-memory flag of the report */
};

struct report {
	char *command; /* command of the schema "subtick.<command>/1" */
	char *source;  /* source of the figures, such as "bpf", or NULL */
	uint64_t time_unix_ns;
	uint64_t window_ns;
	/* table with one row: the top-level keys that have no member in struct report */
	struct table *fields;
	struct table *quality; /* table with one row of losses, errors and flags */
	struct table **tables;
	size_t nr_tables;
	char **notes; /* sentences for the user */
	size_t nr_notes;
	bool failed; /* an allocation failed; never reset */
};

/* After an allocation failure all setters do nothing, so callers check only report_check(). */
struct report *report_new(const char *command);
/* Creates the report of a window. @source may be NULL. Returns NULL if out of memory. */
struct report *report_begin(const char *command, uint64_t time_unix_ns, uint64_t window_ns,
			    const char *source);
void report_free(struct report *report);
/* Returns 0, or -ENOMEM if @report is NULL or any allocation for @report failed. */
int report_check(const struct report *report);
/*
 * Stores a complete report in @ret_report. Frees an incomplete report. Returns 0, or -ENOMEM if the
 * report is incomplete or @report is NULL.
 */
int report_finish(struct report *report, struct report **ret_report);
void report_note(struct report *report, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* True for a top-level key of every report, such as "schema" and "window_ns". */
bool report_head_key(const char *key, size_t len);
/*
 * Adds a top-level key (report_field()) or a quality key (report_quality()) and returns its cell.
 * The caller must not add the same key twice.
 */
struct value *report_field(struct report *report, enum metric_id id);
struct value *report_quality(struct report *report, enum metric_id id);

struct table *report_table(struct report *report, const char *key, const char *title);
/* Creates a nested table in a cell. Freeing the cell also frees the nested table. */
struct table *table_nested(struct table *parent, size_t row, size_t col, const char *key);
/*
 * Creates a nested table with the key and columns of @like, and with @rows rows of nulls. @like
 * must belong to the same report as @parent.
 */
struct table *table_nested_like(struct table *parent, size_t row, size_t col,
				const struct table *like, size_t rows);
size_t table_col(struct table *table, enum metric_id id);
/* Adds a column for a metric, but with another key and title, for example for a percentile. */
size_t table_col_as(struct table *table, enum metric_id id, const char *key, const char *title);
size_t table_row(struct table *table);
/* Returns a dummy cell, never NULL, if the cell does not exist. */
struct value *table_cell(const struct table *table, size_t row, size_t col);
/* Index of the column with the key @key, or -1. */
int table_find(const struct table *table, const char *key);
/* Index of the first column with the metric @id, or -1. */
int table_metric(const struct table *table, enum metric_id id);

/* Returns NULL if @report is NULL or lacks the table. */
const struct table *report_find(const struct report *report, const char *key);
/* Value of a cell by row and key. Returns a null value, never NULL, if the cell does not exist. */
const struct value *table_get(const struct table *table, size_t row, const char *key);
/* Text of a cell by row and key, or NULL if the value of the cell is not text. */
const char *table_str(const struct table *table, size_t row, const char *key);
/* Numeric value of a cell by row and key, or NAN if the value is not a number. */
double table_number(const struct table *table, size_t row, const char *key);

void value_null(struct value *value);
void value_u64(struct value *value, uint64_t u64);
/* Sets a real number. NaN and infinities become null, because JSON cannot represent them. */
void value_f64(struct value *value, double f64);
void value_bool(struct value *value, bool flag);
void value_str(struct value *value, const char *str);
/* Numeric value, or NAN if the value is not a number. */
double value_number(const struct value *value);

/*
 * Reads the first report of @text. The next report starts at offset *@ret_used. Returns -ENODATA if
 * @text is blank, and -EINVAL with the reason in @err if @text is not a report. JSON contains
 * neither titles of tables nor hints for text output, so the report lacks them.
 */
int report_read_json(const char *text, size_t size, struct report **ret_report, size_t *ret_used,
		     struct err *err);

#endif
