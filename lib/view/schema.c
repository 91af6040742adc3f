/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes JSON Schemas (draft 2020-12) from the metric list and the lists of keys of each command. */
#include "view/schema.h"

#include <errno.h>
#include <string.h>

#include "report/schema.h"

/* Every value may be null: unavailable. A whole number is fine where a number is. */
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

	/* In ns or in cycles, which only the report itself says. */
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

struct writer {
	FILE *out;
	const char *command;
	int depth;
};

static void put_object(const struct writer *w, const char *list, const char *keys, const char *prefix,
		       size_t prefix_len);

static const struct schema_list *find_list(const char *command, const char *list)
{
	for (const struct schema_list *at = schema_lists; at->command; at++)
		if (!strcmp(at->command, command) && !strcmp(at->list, list))
			return at;
	return NULL;
}

static void put_nested(const struct writer *w, const char *list, const struct schema_key *key)
{
	struct writer inner = {w->out, w->command, w->depth + 2};
	const struct schema_list *nested;
	char name[64];

	snprintf(name, sizeof(name), "%s.%.*s", list, (int)key->len, key->name);
	nested = find_list(w->command, name);
	fprintf(w->out, "\"type\": [\"array\", \"null\"], \"items\": ");
	if (nested)
		put_object(&inner, name, nested->keys, NULL, 0);
	else
		fprintf(w->out, "{}");
}

/* {"type": …, "description": …} */
static void put_metric(const struct writer *w, const char *list, const struct schema_key *key)
{
	const struct metric *metric = key->metric;

	fprintf(w->out, "{");
	if (!metric)
		fprintf(w->out, "\"type\": [\"string\", \"number\", \"boolean\", \"null\"]");
	else if (metric->unit == UNIT_TABLE)
		put_nested(w, list, key);
	else
		fprintf(w->out, "\"type\": %s", type_of(metric));
	if (metric) {
		fprintf(w->out, ", \"description\": ");
		put_text(w->out, metric->help);
		if (unit_of(metric))
			fprintf(w->out, ", \"x-unit\": \"%s\"", unit_of(metric));
	}
	fprintf(w->out, "}");
}

/* The part of a key that belongs to this object: "x" of "compare.x" inside compare; NULL if none. */
static const char *inside(const struct schema_key *key, const char *prefix, size_t prefix_len,
			  size_t *ret_len)
{
	if (!prefix_len) {
		*ret_len = key->len;
		return key->name;
	}
	if (key->len <= prefix_len || strncmp(key->name, prefix, prefix_len) ||
	    key->name[prefix_len] != '.')
		return NULL;
	*ret_len = key->len - prefix_len - 1;
	return key->name + prefix_len + 1;
}

static bool is_pattern(const char *name, size_t len)
{
	return len >= 2 && !strncmp(name, "pN", 2);
}

/* Whether an earlier key has already opened the object "compare" of "compare.x". */
static bool object_seen(const char *keys, const struct schema_key *of, size_t len)
{
	struct schema_key key;
	bool optional = false;

	while (schema_next(&keys, &optional, &key) && key.name != of->name)
		if (key.len > len && key.name[len] == '.' && !strncmp(key.name, of->name, len))
			return true;
	return false;
}

static int put_properties(const struct writer *w, const char *list, const char *keys,
			  const char *prefix, size_t prefix_len, bool patterns)
{
	const char *at = keys;
	struct schema_key key;
	bool optional = false;
	int nr = 0;

	while (schema_next(&at, &optional, &key)) {
		size_t len, part;
		const char *name = inside(&key, prefix, prefix_len, &len);
		struct writer inner = {w->out, w->command, w->depth + 2};

		if (!name || is_pattern(name, len) != patterns)
			continue;
		for (part = 0; part < len && name[part] != '.';)
			part++;
		if (part < len && (prefix_len || object_seen(keys, &key, part)))
			continue;
		fprintf(w->out, "%s", nr++ ? "," : "");
		indent(w->out, w->depth + 2);
		if (patterns)
			fprintf(w->out, "\"^p[0-9]+%.*s$\": ", (int)len - 2, name + 2);
		else
			fprintf(w->out, "\"%.*s\": ", (int)part, name);
		if (part < len)
			put_object(&inner, list, keys, name, part);
		else
			put_metric(&inner, list, &key);
	}
	return nr;
}

static bool has_patterns(const char *keys, const char *prefix, size_t prefix_len)
{
	struct schema_key key;
	bool optional = false;

	while (schema_next(&keys, &optional, &key)) {
		size_t len;
		const char *name = inside(&key, prefix, prefix_len, &len);

		if (name && is_pattern(name, len))
			return true;
	}
	return false;
}

static void put_required(const struct writer *w, const char *keys)
{
	struct schema_key key;
	bool optional = false;
	int nr = 0;

	while (schema_next(&keys, &optional, &key) && !optional)
		if (!is_pattern(key.name, key.len) && !memchr(key.name, '.', key.len))
			fprintf(w->out, "%s\"%.*s\"", nr++ ? ", " : "", (int)key.len, key.name);
}

/* @prefix: the object that collects "prefix.x"; no length: the row itself. */
static void put_object(const struct writer *w, const char *list, const char *keys, const char *prefix,
		       size_t prefix_len)
{
	fprintf(w->out, "{\"type\": \"object\",");
	if (!prefix_len) {
		indent(w->out, w->depth + 1);
		fprintf(w->out, "\"required\": [");
		put_required(w, keys);
		fprintf(w->out, "],");
	}
	indent(w->out, w->depth + 1);
	fprintf(w->out, "\"properties\": {");
	put_properties(w, list, keys, prefix, prefix_len, false);
	fprintf(w->out, "}");
	if (has_patterns(keys, prefix, prefix_len)) {
		fprintf(w->out, ",");
		indent(w->out, w->depth + 1);
		fprintf(w->out, "\"patternProperties\": {");
		put_properties(w, list, keys, prefix, prefix_len, true);
		fprintf(w->out, "}");
	}
	fprintf(w->out, "}");
}

static void put_lists(const struct writer *w)
{
	for (const struct schema_list *at = schema_lists; at->command; at++) {
		if (strcmp(at->command, w->command) || !at->list[0] || strchr(at->list, '.'))
			continue;
		fprintf(w->out, ",\n    \"%s\": ", at->list);
		if (strcmp(at->list, "quality"))
			fprintf(w->out, "{\"type\": \"array\", \"items\": ");
		put_object(w, at->list, at->keys, NULL, 0);
		if (strcmp(at->list, "quality"))
			fprintf(w->out, "}");
	}
}

int view_schema(FILE *out, const char *command)
{
	const struct schema_list *top = find_list(command, "");
	struct writer w = {out, command, 2};
	struct writer head = {out, command, 0};

	if (!top)
		return -ENOENT;
	fprintf(out,
		"{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
		"  \"$id\": \"subtick.%s/1\",\n"
		"  \"title\": \"one line of subtick %s%s--json\",\n"
		"  \"type\": \"object\",\n"
		"  \"required\": [\"schema\", \"time_unix_ns\", \"window_ns\", \"source\", "
		"\"quality\", \"notes\"",
		command, strcmp(command, "overview") ? command : "",
		strcmp(command, "overview") ? " " : "");
	/* The fixed keys come first, so that a comma follows them. */
	if (top->keys[0] && top->keys[0] != '|') {
		fprintf(out, ", ");
		put_required(&head, top->keys);
	}
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
	if (strpbrk(top->keys, "abcdefghijklmnopqrstuvwxyz")) {
		fprintf(out, ",");
		put_properties(&head, "", top->keys, NULL, 0, false);
	}
	put_lists(&w);
	fprintf(out, "\n  }\n}\n");
	return 0;
}
