/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Self-contained HTML documents, and the embedded files of the live page. */
#ifndef SUBTICK_VIEW_HTML_H
#define SUBTICK_VIEW_HTML_H

#include <stddef.h>
#include <stdio.h>

#include "report/report.h"

struct html_missing {
	const char *command;
	const char *why;
};

struct html_doc {
	const char *machine; /* one line that describes the machine, or NULL if unknown */
	const char *windows; /* JSON objects, separated by commas */
	size_t windows_size;
	/* findings and text view for browsers without JavaScript, or NULL */
	const char *findings, *text;
	const struct html_missing *missing;
	size_t nr_missing;
};

/*
 * Writes a report that loads no other files, and flushes the stream. Returns 0, -ENOMEM, or the
 * -errno of the stream.
 */
int html_write(FILE *out, const struct html_doc *doc);

/* Writes the HTML page of audit --paper, which shows the files figure-N.svg of its directory. */
int html_paper_write(FILE *out, const struct report *report);

/* Writes utf8_printable() text as a JSON string that is safe inside a script element. */
void html_json_text(FILE *out, const char *text);
/* Writes escaped text in an element. @tag may have attributes: "td class=\"number\"". */
void html_element(FILE *out, const char *tag, const char *text);
/* Formats a duration as in the text view, with "µs" instead of "us". */
const char *html_ns(double ns, char *buf, size_t size);

struct web_asset {
	const char *path; /* path of the URL, such as "/app.js" */
	const char *type; /* Content-Type */
	const char *data;
	unsigned int size;
};

/* The files of the live page. The last element of the array has the path NULL. */
extern const struct web_asset web_assets[];
/* Contents of the files /app.css and /app.js of the live page. */
extern const char *const web_style, *const web_script;

/*
 * Two parts of the index.html of a report: the part before the style sheet, and the part from
 * </head> on. The Content-Security-Policy allows web_style and web_script by their hashes.
 */
extern const char web_report_head[], web_report_body[];

/* Script of the trace page, and hashes for the Content-Security-Policy of this page. */
extern const char web_timeline_script[], web_timeline_hash[], web_style_hash[];

/* Content-Security-Policy of the live page. */
#define WEB_CSP                                                                         \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " \
	"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

#endif
