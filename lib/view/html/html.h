/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Several reports as one self-contained HTML document that can be mailed and printed. */
#ifndef SUBTICK_VIEW_HTML_H
#define SUBTICK_VIEW_HTML_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/find.h"
#include "report/report.h"
#include "view/svg/svg.h"

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

extern const char html_style[];

/* @text escaped for content and quoted attributes; invalid UTF-8 becomes U+FFFD, controls \xNN. */
void html_text(FILE *out, const char *text);
/* printf() whose result is escaped. */
void html_textf(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Figures for people, as the text view has them, but in µs. */
void html_format(const struct value *value, enum unit unit, char *buf, size_t size);
const char *html_ns(double ns, char *buf, size_t size);

/* Over the rows that have a figure, and how many have. */
double html_mean(const struct table *table, const char *key, size_t *ret_nr);
/* The row with the largest figure; SIZE_MAX when none has one, or without a table. */
size_t html_largest(const struct table *table, const char *key);

/* The figures people look for first. */
void html_glance(FILE *out, const struct html_doc *doc);
/* Sentences as list items: what one report says, and what it lost. */
void html_summary(FILE *out, const struct report *report);
/* How many losses it named. */
size_t html_losses(FILE *out, const struct report *report);

/* Pictures of one report, none for some. 0 or -errno. */
int html_plots(FILE *out, const struct report *report);
/* Whether all that a series names is there, and a row of it; a report from elsewhere may lack anything. */
bool html_series_fits(const struct report *report, const struct svg_series *series);
/* Draws the series that the report can fill; nothing when there is none. */
int html_plot(FILE *out, const struct report *report, const struct svg_plot *wanted);
int html_crit(FILE *out, const struct report *report);
int html_wake(FILE *out, const struct report *report);
void html_cores(FILE *out, const struct table *cpus);
void html_heat(FILE *out, const struct table *blame);

void html_tables(FILE *out, const struct report *report);

#endif
