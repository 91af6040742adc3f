/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recorded windows as one self-contained HTML file: the live page with its data embedded. */
#ifndef SUBTICK_VIEW_HTML_H
#define SUBTICK_VIEW_HTML_H

#include <stddef.h>
#include <stdio.h>

#include "report/report.h"

/* A measurement that is not in the document, and why. */
struct html_missing {
	const char *command;
	const char *why;
};

struct html_doc {
	const char *machine; /* one line that describes the machine; NULL: unknown */
	const char *windows; /* JSON objects, separated by commas */
	size_t windows_size;
	/* For readers without JavaScript, NULL for none: sentences of all windows, and their text view. */
	const char *findings, *text;
	const struct html_missing *missing;
	size_t nr_missing;
};

/*
 * Writes the document. It loads nothing, and its Content-Security-Policy allows only its own script
 * and style. 0, -ENOMEM, or the stream's -errno; flushes.
 */
int html_write(FILE *out, const struct html_doc *doc);

/* The page of audit --paper, from its report. It shows figure-N.svg of its directory. */
int html_paper_write(FILE *out, const struct report *report);

/* @text as a JSON string for a script element; escaped as by utf8_printable() before. */
void html_json_text(FILE *out, const char *text);
/* @text escaped for content and quoted attributes; escaped as by utf8_printable() before. */
void html_text(FILE *out, const char *text);
/* A duration as in the text view, but with µs. */
const char *html_ns(double ns, char *buf, size_t size);

#endif
