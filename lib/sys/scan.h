/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Strict parsing of words and numbers in a bounded line, shared by the parsers here. */
#ifndef SUBTICK_SYS_SCAN_H
#define SUBTICK_SYS_SCAN_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The unread part of a line; @pos == @end at its end. */
struct scan {
	const char *pos;
	const char *end;
};

static inline bool scan_char(struct scan *scan, char c)
{
	if (scan->pos == scan->end || *scan->pos != c)
		return false;
	scan->pos++;
	return true;
}

static inline bool scan_word(struct scan *scan, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(scan->end - scan->pos) < len || memcmp(scan->pos, word, len))
		return false;
	scan->pos += len;
	return true;
}

static inline void scan_blanks(struct scan *scan)
{
	while (scan->pos < scan->end && *scan->pos == ' ')
		scan->pos++;
}

/* Decimal digits only; -EINVAL if there are none, -ERANGE beyond 64 bits. */
static inline int scan_u64(struct scan *scan, uint64_t *ret_value)
{
	const char *p = scan->pos;
	uint64_t value = 0;

	if (p == scan->end || *p < '0' || *p > '9')
		return -EINVAL;
	for (; p < scan->end && *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return -ERANGE;
	scan->pos = p;
	*ret_value = value;
	return 0;
}

/*
 * Reads the next line of @text, without its newline. False at the end. @ret_cut: the last line has
 * no newline, so it may be cut off in the middle of a number.
 */
static inline bool scan_line(struct scan *text, struct scan *ret_line, bool *ret_cut)
{
	const char *nl;

	*ret_cut = false;
	if (text->pos == text->end)
		return false;
	nl = memchr(text->pos, '\n', text->end - text->pos);
	*ret_cut = !nl;
	*ret_line = (struct scan){text->pos, nl ? nl : text->end};
	text->pos = nl ? nl + 1 : text->end;
	return true;
}

/*
 * Reads the blank-separated numbers up to the end of the line. Stores the first @max; more are
 * checked and counted. Returns how many there are, or -errno.
 */
static inline int scan_columns(struct scan *line, uint64_t *cols, int max)
{
	uint64_t value;
	int nr = 0, rc;

	for (;;) {
		scan_blanks(line);
		if (line->pos == line->end)
			return nr;
		rc = scan_u64(line, &value);
		if (rc)
			return rc;
		if (line->pos < line->end && *line->pos != ' ')
			return -EINVAL;
		if (nr < max)
			cols[nr] = value;
		nr++;
	}
}

#endif
