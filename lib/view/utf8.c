/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the width of UTF-8 text, and escapes and shortens text from untrusted sources. */
#include "view/utf8.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"

/* sufficient columns for a container type and 24 digits of the container's id */
#define LAST_ENOUGH 40

struct range {
	uint32_t first, last;
};

/* Code points that control a terminal, or that move, hide or reorder the surrounding text. */
static const struct range harmful[] = {
	{0x0000, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad},	{0x061c, 0x061c},
	{0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},	{0x2060, 0x206f},
	{0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},
};

static const struct range zero_width[] = {
	{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f}, {0x1ab0, 0x1aff},
	{0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};

static const struct range double_width[] = {
	{0x1100, 0x115f},   {0x2e80, 0x303e},	{0x3041, 0xa4cf},   {0xac00, 0xd7a3},
	{0xf900, 0xfaff},   {0xfe30, 0xfe6f},	{0xff00, 0xff60},   {0xffe0, 0xffe6},
	{0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};

/* Buffer size for one character: up to four bytes, each escaped as \xNN, and a NUL. */
#define PRINTABLE_MAX (4 * 4 + 1)

/* True if @code is in one of the ranges, which are in ascending order. */
#define IN(code, ranges) in_ranges(code, ranges, ARRAY_SIZE(ranges))

static bool in_ranges(uint32_t code, const struct range *ranges, size_t nr)
{
	for (size_t i = 0; i < nr && code >= ranges[i].first; i++)
		if (code <= ranges[i].last)
			return true;
	return false;
}

static size_t code_width(uint32_t code)
{
	if (code < 0x300)
		return 1;
	if (IN(code, zero_width))
		return 0;
	return IN(code, double_width) ? 2 : 1;
}

size_t utf8_width_of(const char *str, size_t len)
{
	size_t width = 0, at = 0, step;
	uint32_t code;

	for (; at < len; at += step) {
		step = utf8_decode(str + at, UTF8_LONGEST, &code);
		width += step ? code_width(code) : 1;
		step += !step;
	}
	return width;
}

size_t utf8_width(const char *str)
{
	return utf8_width_of(str, strlen(str));
}

/* Returns the length in bytes of the longest prefix that fits into @max columns. */
static size_t head_of(const char *str, size_t len, size_t max)
{
	size_t pos = 0, width = 0, step;
	uint32_t code;

	for (; pos < len; pos += step) {
		step = utf8_decode(str + pos, UTF8_LONGEST, &code);
		width += code_width(code);
		if (width > max)
			break;
	}
	return pos;
}

/*
 * Copies the character at *@pos to @buf, with an escape if necessary, and advances *@pos. Returns
 * the copied length.
 */
static size_t disarm(const char **pos, char buf[static PRINTABLE_MAX])
{
	uint32_t code;
	size_t len = utf8_decode(*pos, UTF8_LONGEST, &code), out = 0;

	if (len && !IN(code, harmful)) {
		memcpy(buf, *pos, len);
		*pos += len;
		return len;
	}
	for (len += !len; len; len--)
		out += sprintf(buf + out, "\\x%02x", (unsigned char)*(*pos)++);
	return out;
}

void utf8_print(FILE *out, const char *str)
{
	char buf[PRINTABLE_MAX];

	while (*str)
		fwrite(buf, 1, disarm(&str, buf), out);
}

char *utf8_printable(const char *str, size_t max)
{
	char *out = malloc(4 * strlen(str) + PRINTABLE_MAX);
	char *to = out;

	if (!out)
		return NULL;
	while (*str)
		to += disarm(&str, to);
	*to = '\0';
	if (max && utf8_width(out) > max)
		memcpy(out + head_of(out, strlen(out), max - 1), "…", sizeof("…"));
	return out;
}

void utf8_print_markup(FILE *out, const char *str, size_t max, bool quotes)
{
	const char *special = quotes ? "<>&\"'" : "<>&";
	static const char *const names[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
	char *safe = utf8_printable(str, max);

	for (const char *p = safe ?: "(out of memory)"; *p; p++) {
		const char *at = strchr(special, *p);

		if (at) {
			fputs(names[at - special], out);
		} else if (!strncmp(p, "\xef\xbf\xbe", 3) || !strncmp(p, "\xef\xbf\xbf", 3)) {
			/* XML 1.0 forbids U+FFFE and U+FFFF, so write U+FFFD instead. */
			fputs("\xef\xbf\xbd", out);
			p += 2;
		} else {
			putc(*p, out);
		}
	}
	free(safe);
}

/* Returns the byte offset of the longest suffix that fits into @max columns. */
static size_t tail_of(const char *str, size_t len, size_t max)
{
	size_t width = utf8_width_of(str, len), pos = 0;
	uint32_t code;

	while (width > max) {
		pos += utf8_decode(str + pos, UTF8_LONGEST, &code);
		width -= code_width(code);
	}
	return pos;
}

/* Length of a cgroup name without a systemd suffix such as ".scope". */
static size_t without_kind(const char *last)
{
	const char *dot = strrchr(last, '.');

	if (dot && (!strcmp(dot, ".scope") || !strcmp(dot, ".slice") || !strcmp(dot, ".service")))
		return dot - last;
	return strlen(last);
}

/*
 * Width for the last component of a path: @max - @folders, but at least min(LAST_ENOUGH, 2/3 of
 * @max).
 */
static size_t room_of_last(size_t folders, size_t max)
{
	size_t left = folders < max ? max - folders : 0, enough = max - max / 3;

	if (enough > LAST_ENOUGH)
		enough = LAST_ENOUGH;
	return left > enough ? left : enough;
}

static char *shorten(const char *path, size_t max)
{
	size_t folders = strrchr(path, '/') + 1 - path, from = 0;
	const char *last = path + folders;
	size_t end = strlen(last), head = end, tail = end;
	size_t before = utf8_width_of(path, folders), after = utf8_width(last);
	size_t room = room_of_last(before, max);
	bool cuts = after > room;
	char *out;

	if (cuts) {
		after = room;
		end = head = tail = without_kind(last);
		if (utf8_width_of(last, end) >= room) {
			head = head_of(last, end, (room - 1) * 2 / 3);
			tail = tail_of(last, end, room - 1 - (room - 1) * 2 / 3);
		}
	}
	if (before + after > max)
		from = tail_of(path, folders, max - after - 1);
	if (asprintf(&out, "%s%.*s%.*s%s%.*s", from ? "…" : "", (int)(folders - from), path + from,
		     (int)head, last, cuts ? "…" : "", (int)(end - tail), last + tail) < 0)
		return NULL;
	return out;
}

char *utf8_printable_path(const char *str, size_t max)
{
	/* Escapes such as \x1b contain no '/', so the path can be split after escaping. */
	char *whole = utf8_printable(str, strchr(str, '/') ? 0 : max), *path;

	if (!whole || !max || utf8_width(whole) <= max)
		return whole;
	path = shorten(whole, max);
	free(whole);
	return path;
}
