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
	const char *machine; /* one line that describes the machine; NULL: unknown */
	const struct report *const *reports;
	size_t nr_reports;
	const struct html_missing *missing;
	size_t nr_missing;
};

/*
 * Writes summary, plots, tables and notes on the method; no script, nothing from the network. Names
 * always appear as text. 0, -ENOMEM, or the stream's -errno; flushes.
 */
int html_write(FILE *out, const struct html_doc *doc);

/* Shared by the parts of the document. */

extern const char html_style[];

/* @text escaped for content and quoted attributes; invalid UTF-8 becomes U+FFFD, controls \xNN. */
void html_text(FILE *out, const char *text);
/* printf() whose result is escaped. */
void html_textf(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Figures for people as in the text view, but with µs. */
void html_format(const struct value *value, enum unit unit, char *buf, size_t size);
const char *html_ns(double ns, char *buf, size_t size);

/* The mean over the rows that have a figure, and how many have one. */
double html_mean(const struct table *table, const char *key, size_t *ret_nr);
/* The row with the largest figure; SIZE_MAX if none has one, or without a table. */
size_t html_largest(const struct table *table, const char *key);

/* The most important figures, as tiles. */
void html_glance(FILE *out, const struct html_doc *doc);
int html_findings(FILE *out, const struct html_doc *doc);
/* The summary of one report and its losses, in sentences, as list items. */
void html_summary(FILE *out, const struct report *report);
/* Returns the number of losses listed. */
size_t html_losses(FILE *out, const struct report *report);

/* The plots of one report, if it has any. 0 or -errno. */
int html_plots(FILE *out, const struct report *report);
/* Whether the report has the table, the columns and a row of a series; one from a file may not. */
bool html_series_fits(const struct report *report, const struct svg_series *series);
/* Draws the series for which the report has data; nothing if there is none. */
int html_plot(FILE *out, const struct report *report, const struct svg_plot *wanted);
int html_crit(FILE *out, const struct report *report);
int html_wake(FILE *out, const struct report *report);
/* Several runs of wake, such as of two machines, in the same plots; nothing for one run. */
int html_wake_runs(FILE *out, const struct html_doc *doc);
void html_cores(FILE *out, const struct table *cpus);

/* What a core does: the key of its share, its name and its colour. */
struct html_context {
	const char *key, *name, *color;
};

/* By the key without its unit, such as "task"; NULL for being halted. */
const struct html_context *html_context_of(const char *part);
void html_heat(FILE *out, const struct table *blame);

void html_tables(FILE *out, const struct report *report);

#endif
