/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Several reports as one self-contained HTML document that can be mailed and printed. */
#ifndef SUBTICK_VIEW_HTML_H
#define SUBTICK_VIEW_HTML_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/report.h"

/* A measurement that is not in the document, and why. */
struct html_missing {
	const char *command;
	const char *why;
};

struct html_doc {
	const char *machine; /* one line on where this was measured; NULL: not known */
	const struct report *const *reports;
	size_t nr_reports;
	const struct html_missing *missing;
	size_t nr_missing;
};

/*
 * Summary in plain words, plots, tables, method notes; no script, nothing from outside. Names appear
 * as text whatever they hold. 0, -ENOMEM, or the stream's -errno; flushes.
 */
int html_write(FILE *out, const struct html_doc *doc);

/* What the parts of the document share. */

/* @text escaped for content and quoted attributes; invalid UTF-8 becomes U+FFFD, controls \xNN. */
void html_text(FILE *out, const char *text);
/* printf() whose result is escaped. */
void html_textf(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* By keys; NULL or NAN where there is none. */
const struct table *html_table_of(const struct report *report, const char *key);
const char *html_str(const struct table *table, size_t row, const char *key);
double html_number(const struct table *table, size_t row, const char *key);

/* Sentences as list items: what one report says, and what it lost. */
void html_summary(FILE *out, const struct report *report);
/* How many losses it named. */
size_t html_losses(FILE *out, const struct report *report);

/* Pictures of one report, none for some. 0 or -errno. */
int html_plots(FILE *out, const struct report *report);
void html_cores(FILE *out, const struct table *cpus);
void html_heat(FILE *out, const struct table *blame);

#endif
