/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes JSON Schemas (draft 2020-12) from the column specifications of a command. */
#include "view/view.h"

#include <jansson.h>
#include <string.h>

#include "base/array.h"

/* JSON types of a metric; null marks an unavailable value, and "number" includes integers. */
static json_t *type_of(const struct metric *metric)
{
	static const char *const types[UNIT_TABLE + 1] = {
		[UNIT_TEXT] = "string", [UNIT_BOOL] = "boolean", [UNIT_TABLE] = "array"};

	/* JSON stores identifiers above 63 bits as strings. */
	if (metric->unit == UNIT_ID)
		return json_pack("[sss]", "integer", "string", "null");
	return json_pack("[ss]", types[metric->unit] ?: "number", "null");
}

static const char *unit_of(const struct metric *metric)
{
	static const char *const names[] = {
		[UNIT_NS] = "ns",	   [UNIT_RATIO] = "ratio", [UNIT_CYCLES] = "cycles",
		[UNIT_HZ] = "Hz",	   [UNIT_BYTES] = "bytes", [UNIT_COUNT] = "count",
		[UNIT_TABLE] = NULL,
	};

	/* Metrics of crit have no unit here: the key "unit" of the report is "ns" or "cycles". */
	if (metric->unit == UNIT_NS &&
	    metric_get(metric_find(metric->key, UNIT_CYCLES))->unit == UNIT_CYCLES)
		return NULL;
	return names[metric->unit];
}

static json_t *member(json_t *object, const char *key)
{
	json_t *found = json_object_get(object, key);

	if (!found) {
		found = json_object();
		json_object_set_new(object, key, found);
	}
	return found;
}

static json_t *new_object(void)
{
	return json_pack("{s:s, s:[], s:{}}", "type", "object", "required", "properties");
}

static void add_columns(json_t *object, const struct table_spec *table);

static json_t *describe(const struct column_spec *col)
{
	const struct metric *metric = metric_get(col->metric);
	json_t *json = json_pack("{s:o, s:s}", "type", type_of(metric), "description", metric->help);

	if (unit_of(metric))
		json_object_set_new(json, "x-unit", json_string(unit_of(metric)));
	if (col->kind == COLUMN_BUCKET_TABLE) {
		json_t *items = new_object();

		add_columns(items, &buckets_table);
		json_object_set_new(json, "items", items);
	}
	return json;
}

/* Adds the key of a column to the schema of a table row, unless the schema already has the key. */
static void add_column(json_t *object, const struct column_spec *col, bool required)
{
	const char *key = col->key ? col->key : metric_get(col->metric)->key;
	const char *dot = strchr(key, '.'), *name = dot ? dot + 1 : key;
	bool percentile = col->metric == M_PERCENTILE_NS || col->kind == COLUMN_NUMBERED;
	json_t *properties;
	char text[64];

	if (dot) {
		snprintf(text, sizeof(text), "%.*s", (int)(dot - key), key);
		object = member(member(object, "properties"), text);
		json_object_set_new(object, "type", json_string("object"));
	}
	properties = member(object, percentile ? "patternProperties" : "properties");
	if (percentile) {
		snprintf(text, sizeof(text), "^p[0-9]+%s$",
			 name + 1 + strspn(name + 1, "N0123456789"));
		name = text;
	}
	if (json_object_get(properties, name))
		return;
	json_object_set_new(properties, name, describe(col));
	if (required && !dot && !percentile && !col->when &&
	    !(col->flags & (COLUMN_OPTIONAL | COLUMN_LATER)))
		json_array_append_new(json_object_get(object, "required"), json_string(name));
}

static void add_columns(json_t *object, const struct table_spec *table)
{
	array_for_each(col, table->cols, table->nr)
		add_column(object, col, !table->optional);
}

/* Schema of the object with the keys of @table: the report, its quality, or a row of a list. */
static json_t *object_of(json_t *report, const struct table_spec *table)
{
	json_t *lists = json_object_get(report, "properties"), *list;

	if (!table->key[0] || !strcmp(table->key, "quality"))
		return table->key[0] ? json_object_get(lists, "quality") : report;
	list = json_object_get(lists, table->key);
	if (!list) {
		list = json_pack("{s:s, s:o}", "type", "array", "items", new_object());
		json_object_set_new(lists, table->key, list);
	}
	return json_object_get(list, "items");
}

/* Keys of every report. The three %s are the command, the command in the title, and the command. */
static const char head[] =
	"{'$schema': 'https://json-schema.org/draft/2020-12/schema', '$id': 'subtick.%s/1',"
	" 'title': 'one line of subtick%s --json', 'type': 'object',"
	" 'required': ['schema', 'time_unix_ns', 'window_ns', 'source', 'quality', 'notes'],"
	" 'properties': {'schema': {'const': 'subtick.%s/1'},"
	" 'time_unix_ns': {'type': 'integer', 'description': 'end of the window', 'x-unit': 'ns'},"
	" 'window_ns': {'type': ['integer', 'null'], 'description': 'length of the window',"
	" 'x-unit': 'ns'}, 'source': {'type': ['string', 'null'],"
	" 'description': 'where the figures come from'},"
	" 'notes': {'type': 'array', 'items': {'type': 'string'}},"
	" 'quality': {'type': 'object', 'required': [], 'properties': {}}}}";

void view_schema(FILE *out, const char *command, const struct table_spec *const *tables)
{
	char name[32] = "", text[sizeof(head) + 3 * sizeof(name)];
	json_t *report;

	if (strcmp(command, "overview"))
		snprintf(name, sizeof(name), " %s", command);
	snprintf(text, sizeof(text), head, command, name, command);
	for (char *quote = text; (quote = strchr(quote, '\''));)
		*quote = '"';
	report = json_loads(text, 0, NULL);
	for (; *tables; tables++)
		add_columns(object_of(report, *tables), *tables);
	json_dumpf(report, out, JSON_INDENT(2));
	putc('\n', out);
	json_decref(report);
}
