/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Escapes text and JSON for HTML, and formats durations. */
#include "view/html/html.h"

#include <stdlib.h>
#include <string.h>

#include "view/utf8.h"
#include "view/view.h"

void html_text(FILE *out, const char *text)
{
	static const char special[] = "<>&\"'";
	static const char *const names[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
	char *safe = utf8_printable(text, 0);

	for (const char *p = safe ?: "(out of memory)"; *p; p++) {
		const char *at = strchr(special, *p);

		if (at)
			fputs(names[at - special], out);
		else
			putc(*p, out);
	}
	free(safe);
}

void html_json(FILE *out, const char *json, size_t size)
{
	for (const char *end = json + size, *next; json < end; json = next + 1) {
		next = memchr(json, '<', end - json) ?: end;
		fwrite(json, 1, next - json, out);
		if (next < end)
			fputs("\\u003c", out);
	}
}

void html_json_text(FILE *out, const char *text)
{
	char *safe = utf8_printable(text, 0), *json = NULL;
	size_t size = 0;
	FILE *buffer = open_memstream(&json, &size);

	if (buffer) {
		json_put_text(buffer, safe ?: "?");
		fclose(buffer);
	}
	if (json)
		html_json(out, json, size);
	else
		fputs("\"?\"", out);
	free(json);
	free(safe);
}

/* Replaces "us" by "µs": a document can show it, a terminal may not. */
const char *html_ns(double ns, char *buf, size_t size)
{
	size_t length;

	view_format_ns(ns, buf, size);
	length = strlen(buf);
	if (length >= 3 && !strcmp(buf + length - 3, " us") && length + 2 <= size)
		memcpy(buf + length - 2, "µs", sizeof("µs"));
	return buf;
}
