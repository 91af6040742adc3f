/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Column specifications: which member of a plain struct each column shows. */
#ifndef SUBTICK_REPORT_COLUMNS_H
#define SUBTICK_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report.h"
#include "base/array.h"

/* Type of the member, and the value that means null. */
enum column_kind {
	COLUMN_TABLE,	 /* no member: the caller fills the cell with columns_nested() */
	COLUMN_NUMBERED, /* no member: one column per percentile, see columns_percentiles() */
	COLUMN_U32,	 /* UINT32_MAX is null */
	COLUMN_U64,	 /* UINT64_MAX is null */
	COLUMN_F64,	 /* NaN and infinities are null */
	COLUMN_BOOL,
	COLUMN_BOOL3, /* int8_t: negative is null */
	COLUMN_STR,   /* a pointer; NULL is null */
	COLUMN_CHARS, /* an array of characters inside the struct; "" is "" */
};

/*
 * Byte for memset() that makes every numeric member of a row null. Pointers and arrays must be set
 * separately.
 */
#define COLUMN_ALL_NULL 0xff

enum column_flag {
	COLUMN_DATA_ONLY = 1 << 0, /* in JSON and CSV, not in text */
	/* A double that is a whole number of 0 or more becomes an integer. */
	COLUMN_INTEGER = 1 << 1,
	COLUMN_ROUND = 1 << 2,	   /* like COLUMN_INTEGER, after rounding */
	COLUMN_OPTIONAL = 1 << 3,  /* columns_set() omits the key if the value is null */
	COLUMN_EMPTY_IS_NULL = 1 << 5,
	/* Not required by the JSON Schema, because older reports lack the key. */
	COLUMN_LATER = 1 << 4,
};

struct column_spec {
	enum metric_id metric;
	enum column_kind kind;
	size_t offset;
	unsigned int flags;
	/* The column is present if any of these conditions of the table holds; 0 for always. */
	unsigned int when;
	const char *key, *title; /* override the metric's key and title: "p99_ns", "p99" */
	const struct table_spec *nested;
};

/*
 * Specification of one list of a report. All reports are built from such specifications.
 * view_schema() writes the JSON Schema of a command from its specifications.
 */
struct table_spec {
	const char
		*key; /* JSON name; "" for keys at the top of the report, "quality" for quality */
	const char *title; /* heading in text; NULL for none */
	const struct column_spec *cols;
	size_t nr;
	bool optional;	  /* for "" and "quality": some reports of the command lack the keys */
	bool text_hidden; /* shown in text only with --all */
	const char *rank; /* see struct table */
};

/* Specification of a list with the columns @specs, an array. */
#define TABLE(name, heading, specs, ...)                              \
	{                                                             \
		.key = (name), .title = (heading), .cols = (specs),   \
		.nr = ARRAY_SIZE(specs), __VA_ARGS__ \
	}

#define COLUMN_KIND(type, member) \
	_Generic(((type *)0)->member,                                                              \
		uint32_t: COLUMN_U32,                                                              \
		uint64_t: COLUMN_U64,                                                              \
		double: COLUMN_F64,                                                                \
		bool: COLUMN_BOOL,                                                                 \
		int8_t: COLUMN_BOOL3,                                                              \
		const char *: COLUMN_STR,                                                          \
		char *: __builtin_types_compatible_p(__typeof__(((type *)0)->member), char *) ?    \
				COLUMN_STR :                                                       \
				COLUMN_CHARS)

/*
 * Example: COLUMN(struct row, M_PERCENTILE_NS, p99_ns, .key = "p99_ns", .title = "p99"). The kind
 * is derived from the member's type.
 */
#define COLUMN(type, id, member, ...)                              \
	{                                                          \
		.metric = (id), .kind = COLUMN_KIND(type, member), \
		.offset = offsetof(type, member), __VA_ARGS__      \
	}
#define COLUMN_NESTED(id, table, ...)                                                \
	{                                                                            \
		.metric = (id), .kind = COLUMN_TABLE, .nested = (table), __VA_ARGS__ \
	}
/*
 * Columns of percentiles. The N in @name, such as "pN_ns", is replaced by the digits of the
 * percentile.
 */
#define COLUMN_PERCENTILES(id, name)                                   \
	{                                                              \
		.metric = (id), .kind = COLUMN_NUMBERED, .key = (name) \
	}

/* Adds the list to the report, with the columns whose conditions are in @have. NULL on failure. */
struct table *columns_table(struct report *report, const struct table_spec *spec,
			    unsigned int have);
/* Adds a list with percentiles: "p99_ns" titled "p99" for 99, "p999_ns" titled "p99.9" for 99.9. */
struct table *columns_percentiles(struct report *report, const struct table_spec *spec,
				  unsigned int have, const double *percent, unsigned int nr);
/* Digits of a percentile in keys, such as "999" for 99.9. */
void columns_digits(double percent, char digits[24]);
/* Fills the cells of @row from the members of @from, which is the struct of the specification. */
void columns_fill(struct table *table, size_t row, const void *from);
/* Adds a row and fills it from @from. Returns the row's index, or SIZE_MAX on failure. */
size_t columns_row(struct table *table, const void *from);
/* Sets a number. A whole number of 0 or more becomes an integer. */
void columns_f64(struct value *value, double f64);
/*
 * Makes a table the value of a cell, with the columns of the cell's specification and @rows rows of
 * nulls. The table shares its columns with the nested table of the previous row. Append rows only
 * if @rows is 0.
 */
struct table *columns_nested(struct table *parent, size_t row, size_t col, size_t rows);

/*
 * Keeps the @most rows with the largest rank in each ranked list, without reordering. A note states
 * the number of removed rows. A list with nested lists must be sorted by rank, because the nested
 * list of the first row owns the columns of the later nested lists.
 */
void columns_top(struct report *report, size_t most);

/* Sets top-level keys of the report, or keys of its quality, depending on the key of @spec. */
void columns_set(struct report *report, const struct table_spec *spec, unsigned int have,
		 const void *from);

/* Bucket of a histogram: cumulative count up to the upper bound. */
struct bucket_row {
	uint64_t le_ns, count;
};
extern const struct table_spec buckets_table;

#endif
