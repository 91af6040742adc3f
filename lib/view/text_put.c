/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints text, colours and wrapped lines for the text view. */
#include "view/text.h"

#include <string.h>

#include "view/utf8.h"

void text_put(const struct view *view, const char *sgr, const char *text)
{
	bool paint = view->color && *sgr;

	fprintf(view->out, "%s%s%s", paint ? sgr : "", text, paint ? SGR_RESET : "");
}

uint64_t text_hash(uint64_t hash, const char *text)
{
	/* Including the NUL, so that "a","bc" differs from "ab","c". */
	return hash_bytes(hash, text, strlen(text) + 1);
}

void text_wrap(const struct view *view, const char *text, size_t indent)
{
	/* On a very narrow terminal, let the terminal wrap the lines. */
	size_t room = view->width > (int)indent + 20 ? view->width - indent : 0;
	size_t at = 0;

	while (*text) {
		size_t len = strcspn(text, " ");
		size_t width = utf8_width_of(text, len);

		if (at && room && at + 1 + width > room) {
			fprintf(view->out, "\n%*s", (int)indent, "");
			at = 0;
		} else if (at) {
			fputc(' ', view->out);
			at++;
		}
		fwrite(text, 1, len, view->out);
		at += width;
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', view->out);
}

bool text_is_loss(const struct column *col, const struct value *value)
{
	return col->metric->unit == UNIT_COUNT && value->kind != VALUE_NULL;
}

bool text_is_zero(const struct value *value)
{
	return (value->kind == VALUE_U64 && !value->u64) ||
	       (value->kind == VALUE_F64 && value->f64 == 0) ||
	       (value->kind == VALUE_BOOL && !value->flag);
}

bool text_lost(const struct column *col, const struct value *value)
{
	return text_is_loss(col, value) && !text_is_zero(value);
}

uint64_t text_lost_now(struct losses_seen *seen, const struct column *col,
		       const struct value *value)
{
	uint64_t total = value->kind == VALUE_U64 ? value->u64 : (uint64_t)value_number(value);
	uint64_t key = text_hash(HASH_START, col->key), before;

	for (size_t i = 0; i < sizeof(seen->of) / sizeof(seen->of[0]); i++) {
		if (seen->of[i].key && seen->of[i].key != key)
			continue;
		before = seen->of[i].total;
		seen->of[i].key = key;
		seen->of[i].total = total;
		return total - (total < before ? 0 : before);
	}
	return total;
}
