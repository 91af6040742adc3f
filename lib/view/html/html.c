/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the HTML document: head, order of the sections, notes. */
#include "view/html/html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "view/output.h"
#include "view/svg/wake_runs.h"

/* The sections in their order; reports of other commands come last. */
static const struct section {
	const char *command;
	const char *title;
	const char *method;
} sections[] = {
	{"load", "How busy each core is",
	 "Each core records its own context changes. The parts of a window should sum to the "
	 "window; the closure error is how far they are from that. The columns beside it are the "
	 "figures of other sources for the same window. docs/methods/load.md has the formulas and "
	 "the error bounds."},
	{"runq", "How long tasks wait for a core",
	 "A wait begins when a task can run and ends when it runs. Percentiles are interpolated in "
	 "a histogram bucket; percentile_error_ratio bounds their error. Counts up to a boundary "
	 "are exact."},
	{"noise", "What takes time from the tasks of each core",
	 "Each core counts its interrupts, softirqs and kernel threads by source, and from whom they "
	 "took the time. Sources, tasks and idle should sum to the window; the closure error is how "
	 "far they are from that. The last column of a source is the setting that would move it. "
	 "docs/methods/noise.md has the error bounds."},
	{"wake", "How long an idle core takes to wake",
	 "The time from when a timer was due to the idle exit or the interrupt handler, whichever "
	 "came first, without the cost of our own stamp. Wake-ups that do not count are rejected "
	 "and counted by reason."},
	{"audit", "How wrong the kernel's own figures are",
	 "Loads of known size run on one core, and the kernel's figures are compared with the true "
	 "ones."},
	{"crit", "What disabling interrupts and preemption costs",
	 "Pairs of disable and enable are timed, singly and in batches. The cost of an empty pair "
	 "and of reading the clock is subtracted."},
	{"doctor", "What this machine can measure", "The checks measure and change nothing."},
};

#define NR_SECTIONS (sizeof(sections) / sizeof(sections[0]))

static const char *date(uint64_t time_unix_ns, char *buf, size_t size)
{
	time_t seconds = time_unix_ns / 1000000000;
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(buf, size, "%Y-%m-%d %H:%M:%S UTC", &tm))
		snprintf(buf, size, "at an unknown time");
	return buf;
}

static void put_window(FILE *out, const struct report *report)
{
	char when[40], length[32], name[WAKE_RUN_NAME];

	fputs("<p class=\"muted window\">", out);
	html_textf(out, "subtick %s", report->command);
	if (report->source)
		html_textf(out, ", source %s", report->source);
	if (report->window_ns)
		html_textf(out, ", window %s",
			   html_ns((double)report->window_ns, length, sizeof(length)));
	if (table_str(report->fields, 0, "machine.host")) {
		wake_run_name(&report, 0, name, sizeof(name));
		html_textf(out, ", on %s", name);
	}
	if (report->time_unix_ns)
		html_textf(out, ", measured %s", date(report->time_unix_ns, when, sizeof(when)));
	fputs("</p>\n", out);
}

static size_t section_of(const struct report *report)
{
	for (size_t i = 0; i < NR_SECTIONS; i++)
		if (!strcmp(sections[i].command, report->command))
			return i;
	return NR_SECTIONS;
}

/* Writes the piece of one report; @first: it is the first of its section. 0 or -errno. */
typedef int part_fn(FILE *out, const struct report *report, bool first);

/* Calls @fn for a report; writes the section's heading before the first piece that is not empty. */
static int put_part(FILE *out, const struct report *report, bool *begun, part_fn *fn)
{
	size_t part = section_of(report), size = 0;
	char *text = NULL;
	FILE *buffer = open_memstream(&text, &size);
	int rc = buffer ? fn(buffer, report, !*begun) : -ENOMEM;

	if (buffer && fclose(buffer) && !rc)
		rc = -ENOMEM;
	if (!rc && size && !*begun) {
		fputs("<h3>", out);
		html_text(out, part < NR_SECTIONS ? sections[part].title : report->command);
		fputs("</h3>\n", out);
		*begun = true;
	}
	if (!rc && size)
		fwrite(text, 1, size, out);
	free(text);
	return rc;
}

/* Every report, in the order of the sections. */
static int for_each_report(FILE *out, const struct html_doc *doc, part_fn *fn)
{
	int rc = 0;

	for (size_t part = 0; part <= NR_SECTIONS; part++) {
		bool begun = false;

		for (size_t i = 0; i < doc->nr_reports && !rc; i++)
			if (section_of(doc->reports[i]) == part)
				rc = put_part(out, doc->reports[i], &begun, fn);
	}
	return rc;
}

/* Writes @head, @body and @tail, unless the body is empty. */
static int put_unless_empty(FILE *out, const struct report *report, const char *head,
			    const char *tail, int (*body)(FILE *, const struct report *),
			    bool window)
{
	char *text = NULL;
	size_t size = 0;
	FILE *buffer = open_memstream(&text, &size);
	int rc = buffer ? body(buffer, report) : -ENOMEM;

	if (buffer && fclose(buffer) && !rc)
		rc = -ENOMEM;
	if (!rc && size) {
		if (window)
			put_window(out, report);
		fprintf(out, "%s", head);
		fwrite(text, 1, size, out);
		fputs(tail, out);
	}
	free(text);
	return rc;
}

static int body_summary(FILE *out, const struct report *report)
{
	html_summary(out, report);
	return 0;
}

/* Single experiments of an audit have no summary, and some reports have no plots. */
static int part_summary(FILE *out, const struct report *report, bool first)
{
	return put_unless_empty(out, report, "<ul>\n", "</ul>\n", body_summary, false);
}

static int part_plots(FILE *out, const struct report *report, bool first)
{
	return put_unless_empty(out, report, "", "", html_plots, true);
}

static int part_tables(FILE *out, const struct report *report, bool first)
{
	put_window(out, report);
	html_tables(out, report);
	return 0;
}

static int part_notes(FILE *out, const struct report *report, bool first)
{
	size_t part = section_of(report);

	if (first && part < NR_SECTIONS) {
		fputs("<p>", out);
		html_text(out, sections[part].method);
		fputs("</p>\n", out);
	}
	put_window(out, report);
	if (!report->nr_notes)
		return 0;
	fputs("<ul>\n", out);
	for (size_t i = 0; i < report->nr_notes; i++) {
		fputs("<li>", out);
		html_text(out, report->notes[i]);
		fputs("</li>\n", out);
	}
	fputs("</ul>\n", out);
	return 0;
}

static void put_losses(FILE *out, const struct html_doc *doc)
{
	char *lines = NULL;
	size_t size = 0, nr = doc->nr_missing;
	FILE *list = open_memstream(&lines, &size);

	for (size_t i = 0; list && i < doc->nr_reports; i++)
		nr += html_losses(list, doc->reports[i]);
	for (size_t i = 0; list && i < doc->nr_missing; i++) {
		fputs("<li>", list);
		html_textf(list, "%s is not in this report: %s", doc->missing[i].command,
			   doc->missing[i].why);
		fputs("</li>\n", list);
	}
	if (!list || fclose(list))
		fputs("<p class=\"loss\">Out of memory: the losses are not listed.</p>\n", out);
	else if (nr)
		fprintf(out,
			"<div class=\"loss\"><strong>Lost, doubtful or "
			"missing</strong><ul>\n%s</ul></div>\n",
			lines);
	else
		fputs("<p class=\"fine\">Nothing was lost, and nothing is missing.</p>\n", out);
	free(lines);
}

static void put_head(FILE *out, const struct html_doc *doc)
{
	uint64_t first = UINT64_MAX;
	char when[40];

	for (size_t i = 0; i < doc->nr_reports; i++)
		if (doc->reports[i]->time_unix_ns && doc->reports[i]->time_unix_ns < first)
			first = doc->reports[i]->time_unix_ns;
	fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<title>subtick report</title>\n<style>",
	      out);
	fputs(html_style, out);
	fputs("</style></head><body>\n<header><h1>subtick report</h1>\n", out);
	if (doc->machine) {
		fputs("<p class=\"muted\">", out);
		html_text(out, doc->machine);
		fputs("</p>", out);
	}
	if (first != UINT64_MAX) {
		fputs("<p class=\"muted\">", out);
		html_textf(out, "First measurement: %s", date(first, when, sizeof(when)));
		fputs("</p>", out);
	}
	fputs("</header>\n<main>\n", out);
}

int html_write(FILE *out, const struct html_doc *doc)
{
	struct output output;
	int rc = 0;

	for (size_t i = 0; i < doc->nr_reports && !rc; i++)
		rc = report_check(doc->reports[i]);
	if (!rc)
		rc = output_begin(&output, out);
	if (rc)
		return rc;
	put_head(out, doc);
	fputs("<h2>Summary</h2>\n", out);
	rc = html_findings(out, doc);
	html_glance(out, doc);
	put_losses(out, doc);
	if (!rc)
		rc = for_each_report(out, doc, part_summary);
	fputs("<h2 class=\"sheet\">Plots</h2>\n", out);
	if (!rc)
		rc = for_each_report(out, doc, part_plots);
	if (!rc)
		rc = html_wake_runs(out, doc);
	fputs("<h2 class=\"sheet\">Tables</h2>\n", out);
	if (!rc)
		rc = for_each_report(out, doc, part_tables);
	fputs("<h2>Method</h2>\n", out);
	if (!rc)
		rc = for_each_report(out, doc, part_notes);
	fputs("</main></body></html>\n", out);
	return output_end(&output, rc);
}
