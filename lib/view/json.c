/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports as JSON Lines: one object per report, keys in a fixed order. */
#include "view/view.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/utf8.h"

static json_t *json_rows(const struct table *table);

static json_t *json_text(const char *str)
{
	char *valid = utf8_valid(str);
	json_t *json = valid ? json_string(valid) : NULL;

	free(valid);
	return json;
}

/*
 * jansson's integers are signed. Beyond them an identifier is written as a string, which keeps
 * every digit, and a measure as a real, which keeps it a number.
 */
static json_t *json_u64(uint64_t u64, enum unit unit)
{
	char digits[24];

	if (u64 <= INT64_MAX)
		return json_integer(u64);
	if (unit != UNIT_ID)
		return json_real(u64);
	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)u64);
	return json_string(digits);
}

static json_t *json_value(const struct value *value, enum unit unit)
{
	switch (value->kind) {
	case VALUE_NULL:
		break;
	case VALUE_U64:
		return json_u64(value->u64, unit);
	case VALUE_F64:
		return view_is_whole(value, unit) ? json_integer(llround(value->f64))
						  : json_real(value->f64);
	case VALUE_BOOL:
		return json_boolean(value->flag);
	case VALUE_STR:
		return json_text(value->str);
	case VALUE_TABLE:
		return json_rows(value->table);
	}
	return json_null();
}

/* Takes @value over. "a.b" goes into the object a, unless a is taken by something else. */
static int json_put(json_t *object, const char *key, json_t *value)
{
	const char *dot = strchr(key, '.');
	json_t *inner;

	if (!value)
		return -ENOMEM;
	if (dot && dot > key && dot[1]) {
		inner = json_object_getn(object, key, dot - key);
		if (!inner && json_object_setn_new(object, key, dot - key, inner = json_object())) {
			json_decref(value);
			return -ENOMEM;
		}
		if (json_is_object(inner))
			return json_put(inner, dot + 1, value);
	}
	return json_object_set_new(object, key, value) ? -ENOMEM : 0;
}

static int json_put_row(json_t *object, const struct table *table, size_t row)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < table->nr_cols; i++)
		rc = json_put(object, table->cols[i].key,
			      json_value(table_cell(table, row, i), table->cols[i].metric->unit));
	return rc;
}

static json_t *json_rows(const struct table *table)
{
	json_t *rows = json_array();

	for (size_t i = 0; rows && i < table->nr_rows; i++) {
		json_t *row = json_object();

		if (!row || json_put_row(row, table, i) || json_array_append(rows, row)) {
			json_decref(rows);
			rows = NULL;
		}
		json_decref(row);
	}
	return rows;
}

static json_t *json_quality(const struct report *report)
{
	json_t *quality = json_object();

	if (quality && report->quality->nr_rows && json_put_row(quality, report->quality, 0)) {
		json_decref(quality);
		return NULL;
	}
	return quality;
}

static json_t *json_notes(const struct report *report)
{
	json_t *notes = json_array();

	for (size_t i = 0; notes && i < report->nr_notes; i++) {
		if (json_array_append_new(notes, json_text(report->notes[i]))) {
			json_decref(notes);
			return NULL;
		}
	}
	return notes;
}

static int json_put_head(json_t *object, const struct report *report)
{
	char schema[64];
	int rc;

	snprintf(schema, sizeof(schema), "subtick.%s/1", report->command);
	rc = json_put(object, "schema", json_text(schema));
	if (!rc)
		rc = json_put(object, "time_unix_ns", json_u64(report->time_unix_ns, UNIT_NS));
	/* Without a window there is no length to tell: null, as for anything not to be had. */
	if (!rc)
		rc = json_put(object, "window_ns",
			      report->window_ns ? json_u64(report->window_ns, UNIT_NS)
						: json_null());
	if (!rc)
		rc = json_put(object, "source",
			      report->source ? json_text(report->source) : json_null());
	return rc;
}

int view_json(struct view *view, const struct report *report)
{
	json_t *object = json_object();
	int rc;

	if (!object)
		return -ENOMEM;
	rc = json_put_head(object, report);
	if (!rc && report->fields->nr_rows)
		rc = json_put_row(object, report->fields, 0);
	for (size_t i = 0; !rc && i < report->nr_tables; i++)
		rc = json_put(object, report->tables[i]->key, json_rows(report->tables[i]));
	if (!rc)
		rc = json_put(object, "quality", json_quality(report));
	if (!rc)
		rc = json_put(object, "notes", json_notes(report));
	/*
	 * ASCII only: U+009B is valid UTF-8 and starts an escape sequence on a terminal, and a
	 * cgroup may be named so.
	 */
	if (!rc) {
		errno = 0;
		if (json_dumpf(object, view->out,
			       JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9)) ||
		    fputc('\n', view->out) == EOF)
			rc = errno ? -errno : -ENOMEM;
	}
	json_decref(object);
	return rc;
}
