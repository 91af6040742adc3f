/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes reports as JSON Lines: one object per report, with keys in a fixed order. */
#include "view/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "view/cells.h"

/* Writes ASCII only, because U+009B in a cgroup name starts an escape sequence on a terminal. */
static void put_char(FILE *out, uint32_t code)
{
	static const char escaped[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	const char *at = code && code < 0x80 ? strchr(escaped, (int)code) : NULL;

	if (at)
		fprintf(out, "\\%c", letters[at - escaped]);
	else if (code >= 0x20 && code < 0x80)
		putc_unlocked((int)code, out);
	else if (code < 0x10000)
		fprintf(out, "\\u%04X", code);
	else
		fprintf(out, "\\u%04X\\u%04X", 0xd800 + ((code - 0x10000) >> 10),
			0xdc00 + ((code - 0x10000) & 0x3ff));
}

/* Writes the first @len bytes of @str without quotes. */
static void put_inside(FILE *out, const char *str, size_t len)
{
	const char *end = str + len;
	uint32_t code;

	while (str < end) {
		const char *at = str;
		size_t bytes;

		/* Fast path for plain ASCII text, such as keys and paths. */
		while (str < end && *str >= 0x20 && *str < 0x7f && *str != '"' && *str != '\\')
			str++;
		fwrite_unlocked(at, 1, (size_t)(str - at), out);
		if (str == end)
			break;
		bytes = utf8_decode(str, UTF8_LONGEST, &code);
		put_char(out, bytes ? code : 0xfffd);
		str += bytes ?: 1;
	}
}

static void put_part(FILE *out, const char *str, size_t len)
{
	putc_unlocked('"', out);
	put_inside(out, str, len);
	putc_unlocked('"', out);
}

void json_put_text(FILE *out, const char *str)
{
	put_part(out, str, strlen(str));
}

void json_put_html(FILE *out, const char *str)
{
	size_t len = strcspn(str, "<");

	putc('"', out);
	put_inside(out, str, len);
	for (str += len; *str; str += len) {
		fputs("\\u003c", out);
		len = 1 + strcspn(str + 1, "<");
		put_inside(out, str + 1, len - 1);
	}
	putc('"', out);
}

/*
 * Writes nine digits, with ".0" for a whole number, so that the JSON type of a key never changes.
 */
static void put_real(FILE *out, double value)
{
	char text[32];
	char *exponent;

	snprintf(text, sizeof(text), "%.9g", value);
	exponent = strchr(text, 'e');
	if (exponent) /* Shorten the exponent: 1e+09 becomes 1e9, 1e-05 becomes 1e-5. */
		fprintf(out, "%.*se%d", (int)(exponent - text), text, atoi(exponent + 1));
	else
		fprintf(out, "%s%s", text, strchr(text, '.') ? "" : ".0");
}

/*
 * Many JSON readers store integers as signed 64-bit numbers. An id above INT64_MAX is written as a
 * string. A count above INT64_MAX is written as a real number.
 */
static void put_u64(FILE *out, uint64_t u64, enum unit unit)
{
	char digits[20];

	/* Fast path: a window of 10,000 cgroups has half a million numbers. */
	if (u64 <= INT64_MAX)
		fwrite_unlocked(digits, 1, put_digits(digits, u64), out);
	else if (unit == UNIT_ID)
		fprintf(out, "\"%" PRIu64 "\"", u64);
	else
		put_real(out, (double)u64);
}

static void put_rows(FILE *out, const struct table *table);

static void put_value(FILE *out, const struct value *value, enum unit unit)
{
	switch (value->kind) {
	case VALUE_NULL:
		fputs("null", out);
		break;
	case VALUE_U64:
		put_u64(out, value->u64, unit);
		break;
	case VALUE_F64:
		if (view_is_whole(value, unit))
			fprintf(out, "%lld", llround(value->f64));
		else
			put_real(out, value->f64);
		break;
	case VALUE_BOOL:
		fputs(value->flag ? "true" : "false", out);
		break;
	case VALUE_STR:
		json_put_text(out, value->str);
		break;
	case VALUE_TABLE:
		put_rows(out, value->table);
		break;
	}
}

static bool key_begins(const struct table *table, size_t col, const char *prefix, size_t len)
{
	const char *key = table->cols[col].key;

	return !strncmp(key, prefix, len) && (key[len] == '.' || !key[len]);
}

/* True if a table of the report or a common key such as "source" has the name @key. */
static bool key_taken(const struct report *report, const char *key, size_t len)
{
	array_for_each(table, report->tables, report->nr_tables)
		if (!strncmp((*table)->key, key, len) && !(*table)->key[len])
			return true;
	return report_head_key(key, len);
}

/*
 * Length of "a" if the key "a.b" is written as {"a":{"b":…}}, or 0 if it is written as "a.b". A
 * nested object requires that all columns "a.*" are adjacent and that no other key is "a", because
 * JSON readers ignore one of two equal keys. Reports of other programs may break this rule.
 */
static size_t object_at(const struct table *table, size_t col, const struct report *top)
{
	const char *key = table->cols[col].key;
	size_t len = strcspn(key, "."), end = col;

	if (!len || !key[len] || (top && key_taken(top, key, len)))
		return 0;
	while (end < table->nr_cols && key_begins(table, end, key, len)) {
		if (strlen(table->cols[end].key) <= len + 1)
			return 0;
		end++;
	}
	for (size_t i = 0; i < table->nr_cols; i++)
		if ((i < col || i >= end) && key_begins(table, i, key, len))
			return 0;
	return len;
}

/*
 * Writes the keys and values of a row. @top is the report if @table has the report's top-level
 * keys, else NULL. @comma is true if the object already has keys.
 */
static void put_row(FILE *out, const struct table *table, size_t row, const struct report *top,
		    bool comma)
{
	const char *object = "";
	size_t len = 0;

	for (size_t i = 0; i < table->nr_cols; i++) {
		const char *key = table->cols[i].key;
		bool inside = len && key_begins(table, i, object, len);

		if (len && !inside)
			putc_unlocked('}', out);
		if (comma)
			putc_unlocked(',', out);
		if (!inside) {
			object = key;
			len = object_at(table, i, top);
			if (len) {
				put_part(out, key, len);
				fputs(":{", out);
			}
		}
		json_put_text(out, len ? key + len + 1 : key);
		putc_unlocked(':', out);
		put_value(out, table_cell(table, row, i), table->cols[i].metric->unit);
		comma = true;
	}
	if (len)
		putc_unlocked('}', out);
}

static void put_rows(FILE *out, const struct table *table)
{
	putc_unlocked('[', out);
	for (size_t i = 0; i < table->nr_rows; i++) {
		fputs(i ? ",{" : "{", out);
		put_row(out, table, i, NULL, false);
		putc_unlocked('}', out);
	}
	putc_unlocked(']', out);
}

static void put_head(FILE *out, const struct report *report)
{
	struct value window = {report->window_ns ? VALUE_U64 : VALUE_NULL,
			       .u64 = report->window_ns};
	struct value source = {report->source ? VALUE_STR : VALUE_NULL, .str = report->source};

	fputs("{\"schema\":\"subtick.", out);
	for (const char *at = report->command; *at; at++)
		put_char(out, (unsigned char)*at);
	fputs("/1\",\"time_unix_ns\":", out);
	put_u64(out, report->time_unix_ns, UNIT_NS);
	fputs(",\"window_ns\":", out);
	put_value(out, &window, UNIT_NS);
	fputs(",\"source\":", out);
	put_value(out, &source, UNIT_TEXT);
}

int view_json(struct view *view, const struct report *report)
{
	FILE *out = view->out;

	put_head(out, report);
	if (report->fields->nr_rows)
		put_row(out, report->fields, 0, report, true);
	array_for_each(table, report->tables, report->nr_tables) {
		putc_unlocked(',', out);
		json_put_text(out, (*table)->key);
		putc_unlocked(':', out);
		put_rows(out, *table);
	}
	fputs(",\"quality\":{", out);
	if (report->quality->nr_rows)
		put_row(out, report->quality, 0, NULL, false);
	fputs("},\"notes\":[", out);
	for (size_t i = 0; i < report->nr_notes; i++) {
		if (i)
			putc_unlocked(',', out);
		json_put_text(out, report->notes[i]);
	}
	fputs("]}\n", out);
	return 0;
}
