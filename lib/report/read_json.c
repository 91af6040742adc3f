/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds a report from untrusted JSON. */
#include "report/report.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define MAX_DEPTH 6   /* maximum nesting depth of JSON; reports of subtick have three levels */
#define MAX_KEY	  128 /* maximum length of a key, with the dots of nested objects */
#define MAX_COLS  512

#define SCHEMA_START "subtick."
#define SCHEMA_END   "/1"

/* The unit suffix selects one of these metrics if the list of metrics lacks a JSON key. */
static const struct metric generic[] = {
	{"_ns", "", UNIT_NS, ""},	  {"_ratio", "", UNIT_RATIO, ""},
	{"_total", "", UNIT_COUNT, ""},	  {"_cycles", "", UNIT_CYCLES, ""},
	{"_hz", "", UNIT_HZ, ""},	  {"_bytes", "", UNIT_BYTES, ""},
};
static const struct metric no_unit = {"", "", UNIT_TEXT, ""};

struct reader {
	struct report *report;
	struct err *err;
	enum unit unit; /* unit of keys without a unit suffix */
};

static int bad(const struct reader *r, const char *what)
{
	return err_set(r->err, -EINVAL, "%s", what);
}

/* Formats "p99.9", the title of "p999_ns". Returns false if @key is not a percentile. */
static bool percentile_title(const char *key, char *title, size_t size)
{
	size_t digits = key[0] == 'p' ? strspn(key + 1, "0123456789") : 0;

	if (!digits || digits > 8 || (key[digits + 1] && strcmp(key + digits + 1, "_ns")))
		return false;
	if (digits > 2)
		snprintf(title, size, "p%.2s.%.*s", key + 1, (int)digits - 2, key + 3);
	else
		snprintf(title, size, "p%.*s", (int)digits, key + 1);
	return true;
}

static const struct metric *metric_guess(const struct reader *r, const char *key)
{
	const char *last = strrchr(key, '_');

	array_for_each(metric, generic, last ? ARRAY_SIZE(generic) : 0)
		if (!strcmp(last, metric->key))
			return metric;
	if (r->unit == UNIT_NS)
		return &generic[0];
	return r->unit == UNIT_CYCLES ? &generic[3] : &no_unit;
}

static int column_add(const struct reader *r, struct table *table, const char *key)
{
	enum metric_id id = metric_find(key, r->unit);
	const struct metric *metric = NULL;
	const char *last = strrchr(key, '.');
	char title[16];
	size_t col;

	last = last ? last + 1 : key;
	if (table->nr_cols == MAX_COLS)
		return bad(r, "a table has too many columns");
	if (id != METRIC_NR) {
		col = table_col(table, id);
	} else if (percentile_title(last, title, sizeof(title))) {
		col = table_col_as(table, M_PERCENTILE_NS, key, title);
		metric = r->unit == UNIT_CYCLES ? &generic[3] : NULL;
	} else {
		col = table_col_as(table, M_COUNT, key, last);
		metric = metric_guess(r, key);
	}
	if (col == SIZE_MAX)
		return -ENOMEM;
	if (metric)
		table->cols[col].metric = metric;
	return 0;
}

static int key_join(const struct reader *r, const char *prefix, const char *key, char *buf)
{
	int length = snprintf(buf, MAX_KEY, "%s%s%s", prefix, *prefix ? "." : "", key);

	return length < MAX_KEY ? 0 : bad(r, "a key is too long");
}

static int read_rows(struct reader *r, struct table *table, json_t *rows, int depth);

static int read_value(struct reader *r, struct table *table, size_t row, size_t col, json_t *json,
		      int depth)
{
	struct value *value = table_cell(table, row, col);
	struct table *nested;

	switch (json_typeof(json)) {
	case JSON_INTEGER:
		if (json_integer_value(json) < 0)
			value_f64(value, (double)json_integer_value(json));
		else
			value_u64(value, json_integer_value(json));
		return 0;
	case JSON_REAL:
		value_f64(value, json_real_value(json));
		return 0;
	case JSON_TRUE:
	case JSON_FALSE:
		value_bool(value, json_is_true(json));
		return 0;
	case JSON_STRING:
		value_str(value, json_string_value(json));
		return 0;
	case JSON_ARRAY:
		nested = table_nested(table, row, col, table->cols[col].key);
		return nested ? read_rows(r, nested, json, depth + 1) : -ENOMEM;
	default:
		return 0;
	}
}

/*
 * Reads a JSON object into table row @row. If @row is SIZE_MAX, adds a column for each key of the
 * object and reads no values. Nested objects are flattened: {"a":{"b":1}} is the column "a.b".
 */
static int read_object(struct reader *r, struct table *table, size_t row, const char *prefix,
		       json_t *object, int depth)
{
	const char *name;
	json_t *json;

	if (depth > MAX_DEPTH)
		return bad(r, "the JSON is nested too deeply");
	json_object_foreach (object, name, json) {
		char key[MAX_KEY];
		int rc = key_join(r, prefix, name, key), col = table_find(table, key);

		if (!rc && json_is_object(json))
			rc = read_object(r, table, row, key, json, depth + 1);
		else if (!rc && row == SIZE_MAX && col < 0)
			rc = column_add(r, table, key);
		else if (!rc && row != SIZE_MAX && col >= 0)
			rc = read_value(r, table, row, col, json, depth);
		if (rc)
			return rc;
	}
	return 0;
}

static int read_rows(struct reader *r, struct table *table, json_t *rows, int depth)
{
	json_t *json;
	size_t i;
	int rc;

	if (depth > MAX_DEPTH)
		return bad(r, "the JSON is nested too deeply");
	json_array_foreach (rows, i, json) {
		if (!json_is_object(json))
			return bad(r, "a list contains something other than objects");
		rc = read_object(r, table, SIZE_MAX, "", json, depth);
		if (rc)
			return rc;
	}
	json_array_foreach (rows, i, json) {
		size_t row;

		/* Objects without keys make a table without columns, which cannot have rows. */
		if (!table->nr_cols)
			return 0;
		row = table_row(table);
		if (row == SIZE_MAX)
			return -ENOMEM;
		rc = read_object(r, table, row, "", json, depth);
		if (rc)
			return rc;
	}
	return 0;
}

static int read_single(struct reader *r, struct table *table, json_t *object)
{
	json_t *rows = json_pack("[O]", object);
	int rc = rows ? read_rows(r, table, rows, 0) : -ENOMEM;

	json_decref(rows);
	return rc;
}

static int read_notes(struct reader *r, json_t *notes)
{
	json_t *note;
	size_t i;

	json_array_foreach (notes, i, note) {
		if (!json_is_string(note))
			return bad(r, "a note is not a string");
		report_note(r->report, "%s", json_string_value(note));
	}
	return 0;
}

static uint64_t whole(json_t *json)
{
	return json_integer_value(json) > 0 ? json_integer_value(json) : 0;
}

/*
 * Reads each list of objects as a table, and all other keys as fields. Skips the keys that every
 * report has (report_head_key()).
 */
static int read_body(struct reader *r, json_t *top)
{
	json_t *fields = json_object(), *json;
	struct table *table;
	const char *name;
	int rc = fields ? 0 : -ENOMEM;

	json_object_foreach (top, name, json) {
		if (rc)
			break;
		if (report_head_key(name, strlen(name)))
			continue;
		if (!json_is_array(json)) {
			rc = json_object_set(fields, name, json) ? -ENOMEM : 0;
			continue;
		}
		table = report_table(r->report, name, NULL);
		rc = table ? read_rows(r, table, json, 1) : -ENOMEM;
		if (!rc)
			table->sum = !strcmp(name, "all") && table->nr_rows == 1;
	}
	if (!rc)
		rc = read_single(r, r->report->fields, fields);
	json_decref(fields);
	return rc;
}

/* Returns the unit of keys without a unit suffix. Reports of crit are in ns or in cycles. */
static enum unit unit_of(json_t *top)
{
	const char *unit = json_string_value(json_object_get(top, "unit"));

	return unit && !strcmp(unit, "ns")	 ? UNIT_NS
	       : unit && !strcmp(unit, "cycles") ? UNIT_CYCLES
						 : UNIT_TEXT;
}

/*
 * Extracts the command "load" from "subtick.load/1". A command may contain only lower-case letters
 * and dots, because views use the command as a name.
 */
static bool command_of(json_t *top, char *buf, size_t size)
{
	const char *schema = json_string_value(json_object_get(top, "schema"));
	size_t length;

	if (!schema || strncmp(schema, SCHEMA_START, strlen(SCHEMA_START)))
		return false;
	schema += strlen(SCHEMA_START);
	length = strspn(schema, "abcdefghijklmnopqrstuvwxyz.");
	if (!length || schema[0] == '.' || schema[length - 1] == '.' || length >= size || strcmp(schema + length, SCHEMA_END))
		return false;
	memcpy(buf, schema, length);
	buf[length] = '\0';
	return true;
}

static int read_top(json_t *top, struct report **ret_report, struct err *err)
{
	struct reader r = {.err = err};
	json_t *quality = json_object_get(top, "quality");
	char command[32];
	int rc;

	if (!command_of(top, command, sizeof(command)))
		return bad(&r, "not a report of subtick: it has no schema such as subtick.load/1");
	r.report = report_begin(command, whole(json_object_get(top, "time_unix_ns")),
				whole(json_object_get(top, "window_ns")),
				json_string_value(json_object_get(top, "source")));
	if (!r.report)
		return err_set(err, -ENOMEM, "out of memory");
	r.unit = unit_of(top);
	rc = read_body(&r, top);
	if (!rc && json_is_object(quality))
		rc = read_single(&r, r.report->quality, quality);
	if (!rc)
		rc = read_notes(&r, json_object_get(top, "notes"));
	if (rc)
		report_free(r.report);
	else
		rc = report_finish(r.report, ret_report);
	return rc == -ENOMEM ? err_set(err, rc, "out of memory") : rc;
}

int report_read_json(const char *text, size_t size, struct report **ret_report, size_t *ret_used,
		     struct err *err)
{
	json_error_t error;
	size_t blank = 0;
	json_t *top;
	int rc;

	while (blank < size && isspace((unsigned char)text[blank]))
		blank++;
	if (blank == size)
		return -ENODATA;
	top = json_loadb(text + blank, size - blank,
			 JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &error);
	if (!top)
		return err_set(err, -EINVAL, "not JSON: line %d: %s", error.line, error.text);
	rc = read_top(top, ret_report, err);
	json_decref(top);
	if (!rc)
		*ret_used = blank + (size_t)error.position;
	return rc;
}
