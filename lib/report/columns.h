/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Column specifications: each column of a table shows one member of a struct. */
#ifndef SUBTICK_REPORT_COLUMNS_H
#define SUBTICK_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report.h"
#include "base/array.h"

/* Type of the struct member that a column shows. Most types have one value for null. */
enum column_kind {
	COLUMN_BUCKET_TABLE, /* cells are nested tables, which columns_buckets() creates */
	COLUMN_NUMBERED, /* one column for each percentile that columns_percentiles() adds */
	COLUMN_U32,	 /* UINT32_MAX is null */
	COLUMN_U64,	 /* UINT64_MAX is null */
	COLUMN_F64,	 /* double; NaN and infinities are null */
	COLUMN_BOOL,
	COLUMN_BOOL3, /* int8_t as bool; a negative value is null */
	COLUMN_STR,   /* pointer to a string; NULL is null */
	COLUMN_CHARS, /* array of characters inside the struct */
};

/* Byte for memset() that sets all numeric members to null, but not pointers and arrays. */
#define COLUMN_ALL_NULL 0xff

enum column_flag {
	COLUMN_DATA_ONLY = 1 << 0, /* the column is in JSON and CSV, but not in text */
	COLUMN_INTEGER = 1 << 1,   /* a whole number of 0 or more is written as an integer */
	COLUMN_ROUND = 1 << 2,	   /* the double is rounded, then written as an integer */
	COLUMN_OPTIONAL = 1 << 3, /* columns_set() omits the key of a null value */
	COLUMN_EMPTY_IS_NULL = 1 << 5, /* 0 (unsigned) and "" (COLUMN_CHARS) are null */
	/* The JSON Schema does not require the key, because older versions of subtick lack it. */
	COLUMN_LATER = 1 << 4,
};

struct column_spec {
	enum metric_id metric;
	enum column_kind kind;
	size_t offset;
	unsigned int flags;
	/*
	 * The table has the column if `when` is 0 or has a bit in common with the argument @have of
	 * columns_table().
	 */
	unsigned int when;
	const char *key, *title; /* NULL selects the key or title of the metric */
};

/* view_schema() writes the JSON Schema of a command from the specifications of its tables. */
struct table_spec {
	const char *key;   /* JSON key; "" for top-level keys, "quality" for quality keys */
	const char *title; /* heading of the table in text output, or NULL */
	const struct column_spec *cols;
	size_t nr;
	bool optional;	  /* some reports of the command lack these top-level or quality keys */
	bool text_hidden; /* text output shows the table only on request, such as with --all */
	const char *rank; /* key of the column by which columns_top() ranks the rows, or NULL */
};

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

/* Initializer of a column: COLUMN(struct row, M_PERCENTILE_NS, p99_ns, .key = "p99_ns"). */
#define COLUMN(type, id, member, ...)                              \
	{                                                          \
		.metric = (id), .kind = COLUMN_KIND(type, member), \
		.offset = offsetof(type, member), __VA_ARGS__      \
	}
#define COLUMN_BUCKETS(...)                                                   \
	{                                                                     \
		.metric = M_BUCKETS, .kind = COLUMN_BUCKET_TABLE, __VA_ARGS__ \
	}
/* The N in @name, such as "pN_ns", is replaced by the digits of each percentile. */
#define COLUMN_PERCENTILES(id, name)                                   \
	{                                                              \
		.metric = (id), .kind = COLUMN_NUMBERED, .key = (name) \
	}

/*
 * Adds the table @spec with the columns whose conditions (column_spec.when) are in @have. Returns
 * NULL on failure.
 */
struct table *columns_table(struct report *report, const struct table_spec *spec,
			    unsigned int have);
/* Adds a table with percentile columns: 99.9 becomes the key "p999_ns" with the title "p99.9". */
struct table *columns_percentiles(struct report *report, const struct table_spec *spec,
				  unsigned int have, const double *percent, unsigned int nr);
/* Formats the digits of percentile @percent for a JSON key, such as "999" for 99.9. */
void columns_digits(double percent, char digits[24]);
/* Fills the cells of a row from the members of the struct @from. */
void columns_fill(struct table *table, size_t row, const void *from);
/*
 * Adds a row and fills its cells from the struct @from. Returns the index of the row, or SIZE_MAX
 * on failure.
 */
size_t columns_row(struct table *table, const void *from);
/* Adds a table with a row for each of @nr structs of @size bytes. */
void columns_rows(struct report *report, const struct table_spec *spec, const void *structs,
		  size_t nr, size_t size);
/* Stores a number in a cell. A whole number of 0 or more becomes an integer. */
void columns_f64(struct value *value, double f64);

/*
 * Keeps the @most rows with the largest rank in each ranked table, without reordering, and adds a
 * note with the number of removed rows. The nested table of the first row owns the columns of all
 * nested tables. A table with nested tables must be sorted by rank, so that the first row is kept.
 */
void columns_top(struct report *report, size_t most);

/* Sets top-level keys or quality keys of the report to the members of the struct @from. */
void columns_set(struct report *report, const struct table_spec *spec, unsigned int have,
		 const void *from);

/* Histogram bucket: upper bound, and cumulative count of all values up to the upper bound. */
struct bucket_row {
	uint64_t le_ns, count;
};
extern const struct table_spec buckets_table;
/*
 * Stores @nr buckets as a nested table in column M_BUCKETS of row @row, if @parent has the column.
 */
void columns_buckets(struct table *parent, size_t row, const struct bucket_row *buckets, size_t nr);

#endif
