/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Column specifications: which member of a plain struct each column shows. */
#ifndef SUBTICK_REPORT_COLUMNS_H
#define SUBTICK_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

/* The type of the member, and which value of it means null. */
enum column_kind {
	COLUMN_TABLE, /* no member: the caller fills the cell with table_nested() */
	COLUMN_U32,   /* UINT32_MAX is null */
	COLUMN_U64,   /* UINT64_MAX is null */
	COLUMN_F64,   /* NaN and infinities are null */
	COLUMN_BOOL,
	COLUMN_BOOL3, /* int8_t: negative is null */
	COLUMN_STR,   /* a pointer; NULL is null */
	COLUMN_CHARS, /* an array of characters inside the struct */
};

enum column_flag {
	COLUMN_DATA_ONLY = 1 << 0, /* in JSON and CSV, not in text */
	COLUMN_INTEGER = 1 << 1,   /* doubles: a whole number of 0 or more becomes an integer */
	COLUMN_ROUND = 1 << 2,	   /* the same, after rounding */
	COLUMN_OPTIONAL = 1 << 3,  /* columns_quality(), columns_fields(): no key if it is null */
};

struct column_spec {
	enum metric_id metric;
	enum column_kind kind;
	size_t offset;
	unsigned int flags;
	const char *key, *title; /* override the metric's: "p99_ns", "p99" */
};

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
 * COLUMN(struct row, M_PERCENTILE_NS, p99_ns, .key = "p99_ns", .title = "p99"): the kind follows
 * from the member's type, so the two cannot differ.
 */
#define COLUMN(type, id, member, ...)                              \
	{                                                          \
		.metric = (id), .kind = COLUMN_KIND(type, member), \
		.offset = offsetof(type, member), __VA_ARGS__      \
	}
#define COLUMN_NESTED(id, ...)                                    \
	{                                                         \
		.metric = (id), .kind = COLUMN_TABLE, __VA_ARGS__ \
	}
/* An array of specifications and its length, as two arguments. */
#define COLUMNS(specs) (specs), sizeof(specs) / sizeof((specs)[0])

/* Appends the columns; returns the number of the first, SIZE_MAX on failure. */
size_t columns_add(struct table *table, const struct column_spec *specs, size_t nr);
/* Fills the cells of @row; @first is the return value of columns_add(). */
void columns_fill(struct table *table, size_t row, size_t first, const struct column_spec *specs,
		  size_t nr, const void *from);
/* Adds a row to a table that begins with these columns; returns its number, SIZE_MAX on failure. */
size_t columns_row(struct table *table, const struct column_spec *specs, size_t nr,
		   const void *from);

/* Set keys of the report's quality, and at its top level. */
void columns_quality(struct report *report, const struct column_spec *specs, size_t nr,
		     const void *from);
void columns_fields(struct report *report, const struct column_spec *specs, size_t nr,
		    const void *from);

#endif
