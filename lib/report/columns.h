/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Columns of a table and where each lies in a plain struct, so that a row is filled in one call. */
#ifndef SUBTICK_REPORT_COLUMNS_H
#define SUBTICK_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

/* What lies at the offset, and which value of it stands for null. */
enum column_kind {
	COLUMN_TABLE, /* nothing: the cell is filled by hand, with table_nested() */
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
	COLUMN_INTEGER = 1 << 1,   /* doubles: a whole number from 0 on becomes an integer */
	COLUMN_ROUND = 1 << 2,	   /* the same, rounded to a whole number first */
	COLUMN_OPTIONAL = 1 << 3,  /* columns_quality(), columns_fields(): no key instead of null */
};

struct column_spec {
	enum metric_id metric;
	enum column_kind kind;
	size_t offset;
	unsigned int flags;
	const char *key, *title; /* instead of the metric's: "p99_ns", "p99" */
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
/* An array of specifications as two arguments: itself and its length. */
#define COLUMNS(specs) (specs), sizeof(specs) / sizeof((specs)[0])

/* Appends the columns; the number of the first, SIZE_MAX if that failed. */
size_t columns_add(struct table *table, const struct column_spec *specs, size_t nr);
/* Fills the cells of @row that columns_add() made from @first on. */
void columns_fill(struct table *table, size_t row, size_t first, const struct column_spec *specs,
		  size_t nr, const void *from);
/* A new row of a table that has these columns first; its number, SIZE_MAX if that failed. */
size_t columns_row(struct table *table, const struct column_spec *specs, size_t nr,
		   const void *from);

/* Keys of the report's quality, and at its top level. */
void columns_quality(struct report *report, const struct column_spec *specs, size_t nr,
		     const void *from);
void columns_fields(struct report *report, const struct column_spec *specs, size_t nr,
		    const void *from);

#endif
