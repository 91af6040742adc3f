/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Escapes text, cells and figures: everything of a report enters the document through here. */
#include "view/html/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "view/utf8.h"
#include "view/view.h"

void html_text(FILE *out, const char *text)
{
	char *valid = utf8_valid(text ?: ""), *safe = valid ? utf8_printable(valid, 0) : NULL;

	for (const char *p = safe ?: ""; *p; p++) {
		switch (*p) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fputc(*p, out);
		}
	}
	if (!safe)
		fputs("(out of memory)", out);
	free(valid);
	free(safe);
}

void html_textf(FILE *out, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0) {
		html_text(out, "(out of memory)");
		return;
	}
	html_text(out, text);
	free(text);
}

double html_mean(const struct table *table, const char *key, size_t *ret_nr)
{
	double sum = 0.0;
	size_t nr = 0;

	for (size_t row = 0; row < table->nr_rows; row++) {
		double value = table_number(table, row, key);

		if (isnan(value))
			continue;
		sum += value;
		nr++;
	}
	*ret_nr = nr;
	return nr ? sum / (double)nr : NAN;
}

size_t html_largest(const struct table *table, const char *key)
{
	size_t best = SIZE_MAX;
	double most = -INFINITY;

	for (size_t row = 0; table && row < table->nr_rows; row++) {
		double value = table_number(table, row, key);

		if (value > most) {
			most = value;
			best = row;
		}
	}
	return best;
}

/* "µs": a document can show it, a terminal may not. */
static void use_mu(char *text, size_t size)
{
	size_t length = strlen(text);

	if (length < 3 || strcmp(text + length - 3, " us") || length + 2 > size)
		return;
	memcpy(text + length - 2, "µs", sizeof("µs"));
}

void html_format(const struct value *value, enum unit unit, char *buf, size_t size)
{
	view_format_value(value, unit, buf, size);
	if (unit == UNIT_NS)
		use_mu(buf, size);
}

const char *html_ns(double ns, char *buf, size_t size)
{
	if (isnan(ns)) {
		snprintf(buf, size, "an unknown time");
	} else {
		view_format_ns(ns, buf, size);
		use_mu(buf, size);
	}
	return buf;
}
