/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recorded windows as one self-contained HTML file: the live page with its data embedded. */
#ifndef SUBTICK_VIEW_HTML_H
#define SUBTICK_VIEW_HTML_H

#include <stddef.h>
#include <stdio.h>

#include "report/report.h"

/* A measurement that is missing from the document, and the reason. */
struct html_missing {
	const char *command;
	const char *why;
};

struct html_doc {
	const char *machine; /* one line that describes the machine, or NULL if unknown */
	const char *windows; /* JSON objects, separated by commas */
	size_t windows_size;
	/*
	 * Shown without JavaScript: findings of all windows, and the text view of all windows; each
	 * may be NULL.
	 */
	const char *findings, *text;
	const struct html_missing *missing;
	size_t nr_missing;
};

/*
 * Writes and flushes the document. The document loads no other files, and its
 * Content-Security-Policy allows only its own script and style. Returns 0, -ENOMEM, or the stream's
 * -errno.
 */
int html_write(FILE *out, const struct html_doc *doc);

/* Writes the page of audit --paper. The page shows the files figure-N.svg of its own directory. */
int html_paper_write(FILE *out, const struct report *report);

/* Writes @text as a JSON string for a script element, after escaping as in utf8_printable(). */
void html_json_text(FILE *out, const char *text);
/*
 * Writes @text escaped for HTML content and quoted attributes, after escaping as in
 * utf8_printable().
 */
void html_text(FILE *out, const char *text);
/* Formats a duration as in the text view, with "µs" instead of "us". */
const char *html_ns(double ns, char *buf, size_t size);

#endif
