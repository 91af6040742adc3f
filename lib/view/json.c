/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes reports as JSON Lines: one object per report, keys in a fixed order, without a tree. */
#include "view/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/utf8.h"

/*
 * Writes ASCII only: U+009B is valid UTF-8 and starts an escape sequence on a terminal, and the name
 * of a cgroup may contain it. Invalid bytes become U+FFFD.
 */
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

static void put_text(FILE *out, const char *str)
{
	uint32_t code;

	putc_unlocked('"', out);
	while (*str) {
		size_t len = 0;

		/* The common case: keys and paths. */
		while (str[len] >= 0x20 && str[len] < 0x7f && str[len] != '"' && str[len] != '\\')
			len++;
		if (len) {
			fwrite_unlocked(str, 1, len, out);
		} else {
			len = utf8_decode(str, &code);
			put_char(out, len ? code : 0xfffd);
		}
		str += len ?: 1;
	}
	putc_unlocked('"', out);
}

/* Nine digits; a whole number gets ".0", so that the type of a key never changes. */
static void put_real(FILE *out, double value)
{
	char text[32];
	char *exponent;

	snprintf(text, sizeof(text), "%.9g", value);
	exponent = strchr(text, 'e');
	if (!exponent) {
		fprintf(out, "%s%s", text, strchr(text, '.') ? "" : ".0");
		return;
	}
	/* 1e+09 is 1e9, 1e-05 is 1e-5. */
	fprintf(out, "%.*se%d", (int)(exponent - text), text, atoi(exponent + 1));
}

/*
 * Readers treat integers as signed 64-bit numbers. A larger identifier is written as a string,
 * which keeps every digit, and a larger measure as a real, so that it stays a number.
 */
static void put_u64(FILE *out, uint64_t u64, enum unit unit)
{
	char digits[20], *at = digits + sizeof(digits);

	/* Without printf(), for speed: a window of 10,000 cgroups has half a million numbers. */
	for (uint64_t left = u64; at == digits + sizeof(digits) || left; left /= 10)
		*--at = (char)('0' + left % 10);
	if (u64 <= INT64_MAX)
		fwrite_unlocked(at, 1, (size_t)(digits + sizeof(digits) - at), out);
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
		break;
	case VALUE_U64:
		put_u64(out, value->u64, unit);
		return;
	case VALUE_F64:
		if (view_is_whole(value, unit))
			fprintf(out, "%lld", llround(value->f64));
		else
			put_real(out, value->f64);
		return;
	case VALUE_BOOL:
		fputs(value->flag ? "true" : "false", out);
		return;
	case VALUE_STR:
		put_text(out, value->str);
		return;
	case VALUE_TABLE:
		put_rows(out, value->table);
		return;
	}
	fputs("null", out);
}

/* The length of "a" in "a.b"; 0 if the key has no dot, or another column has the key "a". */
static size_t object_of(const struct table *table, const char *key)
{
	size_t len = strcspn(key, ".");

	if (!len || !key[len] || !key[len + 1])
		return 0;
	for (size_t i = 0; i < table->nr_cols; i++)
		if (!strncmp(table->cols[i].key, key, len) && !table->cols[i].key[len])
			return 0;
	return len;
}

/* Columns of one object are adjacent: it opens with the first and closes after the last. */
static void put_row(FILE *out, const struct table *table, size_t row, bool comma)
{
	const char *object = "";
	size_t len = 0;

	for (size_t i = 0; i < table->nr_cols; i++) {
		const char *key = table->cols[i].key;
		bool inside = len && !strncmp(key, object, len) && key[len] == '.';

		if (len && !inside)
			putc_unlocked('}', out);
		if (comma)
			putc_unlocked(',', out);
		if (!inside) {
			object = key;
			len = object_of(table, key);
			if (len)
				fprintf(out, "\"%.*s\":{", (int)len, key);
		}
		put_text(out, len ? key + len + 1 : key);
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
		put_row(out, table, i, false);
		putc_unlocked('}', out);
	}
	putc_unlocked(']', out);
}

static void put_head(FILE *out, const struct report *report)
{
	fputs("{\"schema\":\"subtick.", out);
	for (const char *at = report->command; *at; at++)
		put_char(out, (unsigned char)*at);
	fputs("/1\",\"time_unix_ns\":", out);
	put_u64(out, report->time_unix_ns, UNIT_NS);
	/* A report without a window has no length: null, as for everything unavailable. */
	fputs(",\"window_ns\":", out);
	if (report->window_ns)
		put_u64(out, report->window_ns, UNIT_NS);
	else
		fputs("null", out);
	fputs(",\"source\":", out);
	if (report->source)
		put_text(out, report->source);
	else
		fputs("null", out);
}

/* view_write() checks the stream for write errors. */
int view_json(struct view *view, const struct report *report)
{
	FILE *out = view->out;

	put_head(out, report);
	if (report->fields->nr_rows)
		put_row(out, report->fields, 0, true);
	for (size_t i = 0; i < report->nr_tables; i++) {
		putc_unlocked(',', out);
		put_text(out, report->tables[i]->key);
		putc_unlocked(':', out);
		put_rows(out, report->tables[i]);
	}
	fputs(",\"quality\":{", out);
	if (report->quality->nr_rows)
		put_row(out, report->quality, 0, false);
	fputs("},\"notes\":[", out);
	for (size_t i = 0; i < report->nr_notes; i++) {
		if (i)
			putc_unlocked(',', out);
		put_text(out, report->notes[i]);
	}
	fputs("]}\n", out);
	return 0;
}
