/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fills the cells of a row from a plain struct, by the column specifications. */
#include "report/columns.h"

#include <math.h>

/* Whole numbers become integers in JSON and CSV; from 2^63 on a double is not exact anyway. */
static void set_f64(struct value *value, double f64, unsigned int flags)
{
	if (flags & COLUMN_ROUND)
		f64 = round(f64);
	if (flags & (COLUMN_ROUND | COLUMN_INTEGER) && f64 >= 0 && f64 == floor(f64) &&
	    f64 < 0x1p63)
		value_u64(value, (uint64_t)f64);
	else
		value_f64(value, f64);
}

static void set(struct value *value, const struct column_spec *spec, const void *from)
{
	const void *at = (const char *)from + spec->offset;

	if (spec->kind != COLUMN_TABLE)
		value_null(value);
	switch (spec->kind) {
	case COLUMN_U32:
		if (*(const uint32_t *)at != UINT32_MAX)
			value_u64(value, *(const uint32_t *)at);
		break;
	case COLUMN_U64:
		if (*(const uint64_t *)at != UINT64_MAX)
			value_u64(value, *(const uint64_t *)at);
		break;
	case COLUMN_F64:
		set_f64(value, *(const double *)at, spec->flags);
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
		value_str(value, at);
		break;
	case COLUMN_TABLE:
		break;
	}
}

size_t columns_add(struct table *table, const struct column_spec *specs, size_t nr)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < nr; i++) {
		size_t col = table_col_as(table, specs[i].metric, specs[i].key, specs[i].title);

		if (col == SIZE_MAX)
			return SIZE_MAX;
		if (!i)
			first = col;
		table->cols[col].data_only = specs[i].flags & COLUMN_DATA_ONLY;
	}
	return first;
}

void columns_fill(struct table *table, size_t row, size_t first, const struct column_spec *specs,
		  size_t nr, const void *from)
{
	for (size_t i = 0; i < nr; i++)
		set(table_cell(table, row, first + i), &specs[i], from);
}

size_t columns_row(struct table *table, const struct column_spec *specs, size_t nr,
		   const void *from)
{
	size_t row = table_row(table);

	if (row != SIZE_MAX)
		columns_fill(table, row, 0, specs, nr, from);
	return row;
}

static void singles(struct report *report, struct table *table,
		    struct value *(*single)(struct report *report, enum metric_id id),
		    const struct column_spec *specs, size_t nr, const void *from)
{
	for (size_t i = 0; i < nr; i++) {
		struct value value = {0};

		set(&value, &specs[i], from);
		if (value.kind == VALUE_NULL && specs[i].flags & COLUMN_OPTIONAL)
			continue;
		/* The cell now owns the value's memory. */
		*single(report, specs[i].metric) = value;
		if (!report->failed)
			table->cols[table->nr_cols - 1].data_only =
				specs[i].flags & COLUMN_DATA_ONLY;
	}
}

void columns_quality(struct report *report, const struct column_spec *specs, size_t nr,
		     const void *from)
{
	singles(report, report->quality, report_quality, specs, nr, from);
}

void columns_fields(struct report *report, const struct column_spec *specs, size_t nr,
		    const void *from)
{
	singles(report, report->fields, report_field, specs, nr, from);
}
