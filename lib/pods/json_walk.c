/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A strict JSON parser (RFC 8259) whose only state is the position in the text. */
#include "pods/json_walk.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"
#include "host/file.h"

struct reader {
	struct scan in;
	struct json_path place;
	json_visit visit;
	void *arg;
};

static void skip_space(struct reader *r)
{
	while (scan_char(&r->in, ' ') || scan_char(&r->in, '\t') || scan_char(&r->in, '\n') ||
	       scan_char(&r->in, '\r'))
		;
}

static bool eat_escape(struct reader *r)
{
	char digits[5] = {0};

	if (scan_char(&r->in, 'u')) {
		if (r->in.end - r->in.pos < 4)
			return false;
		memcpy(digits, r->in.pos, 4);
		r->in.pos += 4;
		return strspn(digits, "0123456789abcdefABCDEF") == 4;
	}
	return r->in.pos < r->in.end && *r->in.pos && strchr("\"\\/bfnrt", *r->in.pos++);
}

static bool eat_string(struct reader *r, struct pod_text *ret_string)
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
	*ret_string = (struct pod_text){start, r->in.pos - start};
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
	struct pod_text string;

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
	struct json_path *place = &r->place;
	size_t at = place->depth;
	char close;

	skip_space(r);
	if (r->in.pos == r->in.end || (*r->in.pos != '{' && *r->in.pos != '['))
		return eat_plain(r);
	if (at == JSON_WALK_DEPTH)
		return false;
	close = *r->in.pos++ == '{' ? '}' : ']';
	place->key[at] = (struct pod_text){0};
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

bool json_key_is(const struct json_path *place, size_t depth, const char *name)
{
	const struct pod_text key = depth < place->depth ? place->key[depth] : (struct pod_text){0};

	return key.at && strlen(name) == key.len && !memcmp(key.at, name, key.len);
}
