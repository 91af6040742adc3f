/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A strict JSON parser (RFC 8259) whose only state is the position in the text. */
#include "pods/json_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "host/file.h"

struct reader {
	struct scan in;
	struct json_place place;
	json_visit visit;
	void *arg;
};

static void skip_space(struct reader *r)
{
	while (scan_char(&r->in, ' ') || scan_char(&r->in, '\t') || scan_char(&r->in, '\n') ||
	       scan_char(&r->in, '\r'))
		;
}

/* Value of four hex digits, or -1. */
static int32_t hex_four(const char *at, const char *end)
{
	char digits[5] = {0};

	if (end - at < 4)
		return -1;
	memcpy(digits, at, 4);
	return strspn(digits, "0123456789abcdefABCDEF") == 4 ? strtol(digits, NULL, 16) : -1;
}

static bool eat_escape(struct reader *r)
{
	if (r->in.pos == r->in.end)
		return false;
	if (*r->in.pos == 'u') {
		if (hex_four(r->in.pos + 1, r->in.end) < 0)
			return false;
		r->in.pos += 5;
		return true;
	}
	return *r->in.pos && strchr("\"\\/bfnrt", *r->in.pos++);
}

static bool eat_string(struct reader *r, struct json_string *ret_string)
{
	const char *start;

	if (!scan_char(&r->in, '"'))
		return false;
	start = r->in.pos;
	while (r->in.pos < r->in.end && *r->in.pos != '"') {
		uint32_t code;
		size_t len;

		if ((unsigned char)*r->in.pos < 0x20)
			return false;
		if (*r->in.pos == '\\') {
			r->in.pos++;
			if (!eat_escape(r))
				return false;
			continue;
		}
		len = utf8_decode(r->in.pos, r->in.end - r->in.pos, &code);
		if (!len)
			return false;
		r->in.pos += len;
	}
	*ret_string = (struct json_string){start, r->in.pos - start};
	return scan_char(&r->in, '"');
}

static bool eat_digits(struct reader *r)
{
	const char *start = r->in.pos;

	while (r->in.pos < r->in.end && *r->in.pos >= '0' && *r->in.pos <= '9')
		r->in.pos++;
	return r->in.pos > start;
}

static bool eat_number(struct reader *r)
{
	scan_char(&r->in, '-');
	if (!scan_char(&r->in, '0') && !eat_digits(r))
		return false;
	if (scan_char(&r->in, '.') && !eat_digits(r))
		return false;
	if (scan_char(&r->in, 'e') || scan_char(&r->in, 'E')) {
		if (!scan_char(&r->in, '+'))
			scan_char(&r->in, '-');
		return eat_digits(r);
	}
	return true;
}

static bool eat_plain(struct reader *r)
{
	struct json_string string;

	if (r->in.pos < r->in.end && *r->in.pos == '"') {
		if (!eat_string(r, &string))
			return false;
		if (r->visit)
			r->visit(r->arg, &r->place, string);
		return true;
	}
	return scan_word(&r->in, "true") || scan_word(&r->in, "false") || scan_word(&r->in, "null") ||
	       eat_number(r);
}

/* Parses the key of the next object member and the colon after the key. */
static bool eat_key(struct reader *r)
{
	skip_space(r);
	if (!eat_string(r, &r->place.key[r->place.depth - 1]))
		return false;
	skip_space(r);
	return scan_char(&r->in, ':');
}

/* Recursion is bounded by JSON_WALK_DEPTH. */
static bool eat_value(struct reader *r)
{
	struct json_place *place = &r->place;
	size_t at = place->depth;
	char close;

	skip_space(r);
	if (r->in.pos == r->in.end || (*r->in.pos != '{' && *r->in.pos != '['))
		return eat_plain(r);
	if (at == JSON_WALK_DEPTH)
		return false;
	close = *r->in.pos++ == '{' ? '}' : ']';
	place->key[at] = (struct json_string){0};
	place->index[at] = 0;
	place->depth++;
	skip_space(r);
	if (!scan_char(&r->in, close)) {
		do {
			if ((close == '}' && !eat_key(r)) || !eat_value(r))
				return false;
			place->index[at]++;
			skip_space(r);
		} while (scan_char(&r->in, ','));
		if (!scan_char(&r->in, close))
			return false;
	}
	place->depth--;
	return true;
}

int json_walk(const char *text, size_t len, json_visit visit, void *arg)
{
	struct reader r = {.in = {text, text + len}, .visit = visit, .arg = arg};
	bool valid = eat_value(&r);

	skip_space(&r);
	return valid && r.in.pos == r.in.end ? 0 : -EINVAL;
}

bool json_key_is(const struct json_place *place, size_t depth, const char *name)
{
	struct json_string key;

	if (depth >= place->depth)
		return false;
	key = place->key[depth];
	return key.at && strlen(name) == key.len && !memcmp(key.at, name, key.len);
}

static size_t put_code(uint32_t code, char out[4])
{
	static const uint32_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = len - 1; i; i--) {
		out[i] = 0x80 | (code & 0x3f);
		code >>= 6;
	}
	out[0] = lead[len] | code;
	return len;
}

/* Decodes \uNNNN or a surrogate pair and moves @at to the next character. Returns 0 on error. */
static uint32_t unescape_code(const char **at, const char *end)
{
	int32_t code = hex_four(*at, end), low;

	if (code <= 0)
		return 0;
	*at += 4;
	if (code < 0xd800 || code > 0xdfff)
		return code;
	if (code > 0xdbff || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u')
		return 0;
	low = hex_four(*at + 2, end);
	*at += 6;
	return low >= 0xdc00 && low <= 0xdfff ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : 0;
}

int json_unescape(struct json_string string, char *ret_text, size_t size)
{
	const char *at = string.at, *end = at + string.len;
	static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	size_t len = 0;

	while (at < end) {
		char out[4] = {*at++};
		size_t more = 1;

		if (out[0] == '\\' && at < end && *at == 'u') {
			uint32_t code;

			at++;
			code = unescape_code(&at, end);
			if (!code)
				return -EINVAL;
			more = put_code(code, out);
		} else if (out[0] == '\\') {
			const char *which = at < end && *at ? strchr(plain, *at++) : NULL;

			if (!which)
				return -EINVAL;
			out[0] = meant[which - plain];
		}
		if (len + more + 1 > size)
			return -EINVAL;
		memcpy(ret_text + len, out, more);
		len += more;
	}
	ret_text[len] = '\0';
	return len;
}
