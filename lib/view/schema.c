/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes JSON Schemas (draft 2020-12) from the column specifications of a command. */
#include "view/schema.h"

#include <string.h>

/* Every value may be null: unavailable. An integer is a number, too. */
static const char *type_of(const struct metric *metric)
{
	switch (metric->unit) {
	case UNIT_TEXT:
		return "[\"string\", \"null\"]";
	case UNIT_BOOL:
		return "[\"boolean\", \"null\"]";
	case UNIT_ID: /* beyond 63 bits it is written as a string */
		return "[\"integer\", \"string\", \"null\"]";
	default:
		return "[\"number\", \"null\"]";
	}
}

static const char *unit_of(const struct metric *metric)
{
	static const char *const names[] = {
		[UNIT_NS] = "ns",	   [UNIT_RATIO] = "ratio", [UNIT_CYCLES] = "cycles",
		[UNIT_HZ] = "Hz",	   [UNIT_BYTES] = "bytes", [UNIT_COUNT] = "count",
		[UNIT_TABLE] = NULL,
	};

	/* Metrics that exist in ns and in cycles: the report has the unit. */
	if (metric->unit == UNIT_NS &&
	    metric_get(metric_find(metric->key, UNIT_CYCLES))->unit == UNIT_CYCLES)
		return NULL;
	return names[metric->unit];
}

/* Help texts have neither backslashes nor control characters; quotes are escaped. */
static void put_text(FILE *out, const char *text)
{
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', out);
		putc(*text, out);
	}
	putc('"', out);
}

static void indent(FILE *out, int depth)
{
	fprintf(out, "\n%*s", depth * 2, "");
}

/* The columns of all specifications with one key, which are one list of the JSON. */
struct list {
	const struct table_spec *const *tables; /* NULL-terminated */
	const char *key;
};

struct cursor {
	const struct table_spec *const *table;
	size_t col;
};

/* The column's key, a metric's or its own; all percentiles of a list have one key. */
static const char *key_of(const struct column_spec *col)
{
	if (col->metric == M_PERCENTILE_NS)
		return "pN_ns";
	return col->key ? col->key : metric_get(col->metric)->key;
}

/* The next column of the list in @at, which begins at the first table; NULL at the end. */
static const struct column_spec *next(const struct list *list, struct cursor *at)
{
	for (; *at->table; at->table++, at->col = 0)
		if (!strcmp((*at->table)->key, list->key) && at->col < (*at->table)->nr)
			return &(*at->table)->cols[at->col++];
	return NULL;
}

/* True if a column before the one that @here just passed has the same first @len characters. */
static bool repeats(const struct list *list, const struct cursor *here, const char *key, size_t len)
{
	struct cursor at = {list->tables, 0};
	const struct column_spec *before;

	while ((before = next(list, &at)) && (at.table != here->table || at.col != here->col))
		if (!strncmp(key_of(before), key, len) && key_of(before)[len] == key[len])
			return true;
	return false;
}

static void put_object(FILE *out, int depth, const struct list *list, const char *prefix);

/* {"type": …, "description": …} */
static void put_column(FILE *out, int depth, const struct column_spec *col)
{
	const struct metric *metric = metric_get(col->metric);

	if (col->nested) {
		const struct table_spec *const tables[] = {col->nested, NULL};

		fprintf(out, "{\"type\": [\"array\", \"null\"], \"items\": ");
		put_object(out, depth + 2, &(struct list){tables, col->nested->key}, "");
	} else {
		fprintf(out, "{\"type\": %s", type_of(metric));
	}
	fprintf(out, ", \"description\": ");
	put_text(out, metric->help);
	if (unit_of(metric))
		fprintf(out, ", \"x-unit\": \"%s\"", unit_of(metric));
	fprintf(out, "}");
}

/* The part of a key in the object @prefix: "x" of "compare.x" in "compare."; NULL if none. */
static const char *inside(const struct column_spec *col, const char *prefix)
{
	const char *key = key_of(col);

	return strncmp(key, prefix, strlen(prefix)) ? NULL : key + strlen(prefix);
}

static bool is_pattern(const char *name)
{
	return !strncmp(name, "pN", 2);
}

/* @separator: written before the first property. */
static void put_properties(FILE *out, int depth, const struct list *list, const char *prefix,
			   bool patterns, const char *separator)
{
	struct cursor at = {list->tables, 0};
	const struct column_spec *col;

	while ((col = next(list, &at))) {
		const char *name = inside(col, prefix);
		size_t len = name ? strcspn(name, ".") : 0;
		char inner[64];

		if (!name || is_pattern(name) != patterns ||
		    repeats(list, &at, key_of(col), name - key_of(col) + len))
			continue;
		fprintf(out, "%s", separator);
		indent(out, depth + 2);
		separator = ",";
		if (patterns)
			fprintf(out, "\"^p[0-9]+%s$\": ", name + 2);
		else
			fprintf(out, "\"%.*s\": ", (int)len, name);
		if (name[len]) {
			snprintf(inner, sizeof(inner), "%.*s.", (int)len, name);
			put_object(out, depth + 2, list, inner);
		} else {
			put_column(out, depth + 2, col);
		}
	}
}

static bool has_patterns(const struct list *list, const char *prefix)
{
	struct cursor at = {list->tables, 0};
	const struct column_spec *col;

	while ((col = next(list, &at))) {
		const char *name = inside(col, prefix);

		if (name && is_pattern(name))
			return true;
	}
	return false;
}

static bool is_required(const struct table_spec *table, const struct column_spec *col)
{
	return !table->optional && !col->when && !(col->flags & (COLUMN_OPTIONAL | COLUMN_LATER)) &&
	       !is_pattern(key_of(col)) && !strchr(key_of(col), '.');
}

static void put_required(FILE *out, const struct list *list, const char *separator)
{
	struct cursor at = {list->tables, 0};
	const struct column_spec *col;

	while ((col = next(list, &at)))
		if (is_required(*at.table, col) &&
		    !repeats(list, &at, key_of(col), strlen(key_of(col)))) {
			fprintf(out, "%s\"%s\"", separator, key_of(col));
			separator = ", ";
		}
}

/* @prefix: the object that collects "prefix.x"; "" for the row itself. */
static void put_object(FILE *out, int depth, const struct list *list, const char *prefix)
{
	fprintf(out, "{\"type\": \"object\",");
	if (!prefix[0]) {
		indent(out, depth + 1);
		fprintf(out, "\"required\": [");
		put_required(out, list, "");
		fprintf(out, "],");
	}
	indent(out, depth + 1);
	fprintf(out, "\"properties\": {");
	put_properties(out, depth, list, prefix, false, "");
	fprintf(out, "}");
	if (has_patterns(list, prefix)) {
		fprintf(out, ",");
		indent(out, depth + 1);
		fprintf(out, "\"patternProperties\": {");
		put_properties(out, depth, list, prefix, true, "");
		fprintf(out, "}");
	}
	fprintf(out, "}");
}

/* True if an earlier table has the same key. */
static bool is_listed(const struct table_spec *const *tables, const struct table_spec *const *table)
{
	while (tables < table)
		if (!strcmp((*tables++)->key, (*table)->key))
			return true;
	return false;
}

void view_schema(FILE *out, const char *command, const struct table_spec *const *tables)
{
	const struct list top = {tables, ""}, quality = {tables, "quality"};
	bool overview = !strcmp(command, "overview");

	fprintf(out,
		"{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
		"  \"$id\": \"subtick.%s/1\",\n"
		"  \"title\": \"one line of subtick %s%s--json\",\n"
		"  \"type\": \"object\",\n"
		"  \"required\": [\"schema\", \"time_unix_ns\", \"window_ns\", \"source\", "
		"\"quality\", \"notes\"",
		command, overview ? "" : command, overview ? "" : " ");
	put_required(out, &top, ", ");
	fprintf(out,
		"],\n  \"properties\": {\n"
		"    \"schema\": {\"const\": \"subtick.%s/1\"},\n"
		"    \"time_unix_ns\": {\"type\": \"integer\", \"description\": \"end of the "
		"window\", \"x-unit\": \"ns\"},\n"
		"    \"window_ns\": {\"type\": [\"integer\", \"null\"], \"description\": "
		"\"length of the window\", \"x-unit\": \"ns\"},\n"
		"    \"source\": {\"type\": [\"string\", \"null\"], \"description\": \"where the "
		"figures come from\"},\n"
		"    \"notes\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}}",
		command);
	put_properties(out, 0, &top, "", false, ",");
	for (const struct table_spec *const *table = tables; *table; table++) {
		const struct list list = {tables, (*table)->key};

		if (!list.key[0] || !strcmp(list.key, quality.key) || is_listed(tables, table))
			continue;
		fprintf(out, ",\n    \"%s\": {\"type\": \"array\", \"items\": ", list.key);
		put_object(out, 2, &list, "");
		fprintf(out, "}");
	}
	fprintf(out, ",\n    \"quality\": ");
	put_object(out, 2, &quality, "");
	fprintf(out, "\n  }\n}\n");
}
