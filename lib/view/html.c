/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The document around the reports: head, order of its parts, tables, notes. */
#include "view/html.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "view/utf8.h"
#include "view/view.h"

#define MAX_ROWS 100 /* of a table: enough to read, few enough to mail */
#define SHORT	 16

/* The order people ask in; whatever else there is comes after. */
static const struct section {
	const char *command;
	const char *title;
	const char *method;
} sections[] = {
	{"load", "How busy each core is",
	 "Each core stamps its own changes of context; the parts of a window must sum to the window, and "
	 "the closure error says how far they miss. The columns beside it are what other sources say of "
	 "the same window. docs/methods/load.md has the formulas and the error bounds."},
	{"runq", "How long tasks wait for a core",
	 "A wait begins when a task could run and ends when it does. Percentiles are linear inside a "
	 "histogram bucket; percentile_error_ratio bounds their error. Counts up to a boundary are exact."},
	{"wake", "How long an idle core takes to wake",
	 "From the moment a timer was due to the first sign of life of the core, without the cost of our "
	 "own stamp. What does not count, and why, is in the list of rejected wake-ups."},
	{"audit", "How wrong the kernel's own figures are",
	 "Loads whose truth is known are run on one core, and the kernel's figures are held against "
	 "them."},
	{"crit", "What disabling interrupts and preemption costs",
	 "Pairs of disable and enable are timed, alone and in batches; the cost of an empty pair and of "
	 "the clock is subtracted."},
	{"doctor", "What this machine can measure", "Each check looks and disturbs nothing."},
};

#define NR_SECTIONS (sizeof(sections) / sizeof(sections[0]))

static const char style[] =
	":root{color-scheme:light}"
	"body{font:15px/1.5 system-ui,sans-serif;color:#1b1f24;background:#fff;max-width:60rem;"
	"margin:0 auto;padding:1rem}"
	"h1{font-size:1.6rem;margin:0}h2{font-size:1.25rem;border-bottom:2px solid #d0d7de;"
	"padding-bottom:.2rem;margin-top:2rem}h3{font-size:1.05rem;margin:1.2rem 0 .4rem}"
	".muted{color:#57606a}.bad{color:#b3261e}.loss{border:1px solid #b3261e;background:#fdecea;"
	"padding:.4rem .8rem;border-radius:6px}"
	"table{border-collapse:collapse;font-size:.8rem}caption{text-align:left;font-weight:600;"
	"padding:.3rem 0}th,td{border-bottom:1px solid #d0d7de;padding:.15rem .45rem;text-align:left;"
	"vertical-align:top}td.t{min-width:10rem;max-width:26rem;overflow-wrap:anywhere}td.n{text-align:right;white-space:nowrap;"
	"font-variant-numeric:tabular-nums}thead th{white-space:nowrap}"
	/* Long names would make a heat map of it; the tables have them whole. */
	".heat th{max-width:9rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}"
	".heat th[scope=row]{max-width:16rem}"
	".scroll{overflow-x:auto}svg{max-width:100%;height:auto}li{overflow-wrap:anywhere}"
	"p{overflow-wrap:anywhere}ul{padding-left:1.3rem}"
	"@media print{body{max-width:none;padding:0;font-size:10pt}h2,h3,caption{break-after:avoid}"
	"svg,tr,.loss{break-inside:avoid}.scroll{overflow:visible}table{font-size:7pt;width:100%}"
	"td.n,thead th{white-space:normal}td.t{min-width:0}"
	"*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}";

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

const struct table *html_table_of(const struct report *report, const char *key)
{
	for (size_t i = 0; i < report->nr_tables; i++)
		if (!strcmp(report->tables[i]->key, key))
			return report->tables[i];
	return NULL;
}

static const struct value *cell_of(const struct table *table, size_t row, const char *key)
{
	int col = table_find(table, key);

	return col < 0 ? NULL : table_cell(table, row, col);
}

const char *html_str(const struct table *table, size_t row, const char *key)
{
	const struct value *value = cell_of(table, row, key);

	return value && value->kind == VALUE_STR ? value->str : NULL;
}

double html_number(const struct table *table, size_t row, const char *key)
{
	const struct value *value = cell_of(table, row, key);

	if (value && value->kind == VALUE_U64)
		return (double)value->u64;
	return value && value->kind == VALUE_F64 ? value->f64 : NAN;
}

static bool column_is_empty(const struct table *table, size_t col)
{
	if (table->cols[col].data_only)
		return true;
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct value *value = table_cell(table, row, col);

		if (value->kind == VALUE_TABLE || value->kind == VALUE_NULL)
			continue;
		if (value->kind != VALUE_STR || value->str[0])
			return false;
	}
	return true;
}

static void put_cell(FILE *out, const struct value *value, enum unit unit)
{
	char number[64];

	if (value->kind == VALUE_STR) {
		/* Short words need no room of their own. */
		fputs(strlen(value->str) > SHORT ? "<td class=\"t\">" : "<td>", out);
		html_text(out, value->str);
	} else {
		view_format_value(value, unit, number, sizeof(number));
		fputs("<td class=\"n\">", out);
		html_text(out, number);
	}
	fputs("</td>", out);
}

static void put_table(FILE *out, const struct table *table)
{
	size_t shown = table->nr_rows < MAX_ROWS ? table->nr_rows : MAX_ROWS;

	if (!table->nr_rows)
		return;
	fputs("<div class=\"scroll\"><table><caption>", out);
	html_text(out, table->title ?: table->key);
	if (shown < table->nr_rows)
		html_textf(out, ": the first %zu of %zu rows", shown, table->nr_rows);
	fputs("</caption><thead><tr>", out);
	for (size_t col = 0; col < table->nr_cols; col++) {
		if (column_is_empty(table, col))
			continue;
		fputs("<th scope=\"col\" title=\"", out);
		html_text(out, table->cols[col].metric->help);
		fputs("\">", out);
		html_text(out, table->cols[col].title);
		fputs("</th>", out);
	}
	fputs("</tr></thead><tbody>\n", out);
	for (size_t row = 0; row < shown; row++) {
		fputs("<tr>", out);
		for (size_t col = 0; col < table->nr_cols; col++)
			if (!column_is_empty(table, col))
				put_cell(out, table_cell(table, row, col),
					 table->cols[col].metric->unit);
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
}

/* Fields and quality: one line per key, with what it means. */
static void put_single(FILE *out, const struct table *table, const char *title)
{
	char number[64];

	if (!table->nr_rows)
		return;
	fputs("<table><caption>", out);
	html_text(out, title);
	fputs("</caption><tbody>\n", out);
	for (size_t col = 0; col < table->nr_cols; col++) {
		const struct value *value = table_cell(table, 0, col);

		if (value->kind == VALUE_TABLE)
			continue;
		fputs("<tr><th scope=\"row\">", out);
		html_text(out, table->cols[col].key);
		fputs("</th>", out);
		if (value->kind == VALUE_NULL) {
			fputs("<td class=\"n\">not to be had</td>", out);
		} else if (value->kind == VALUE_F64 && table->cols[col].metric->unit == UNIT_RATIO) {
			view_format_ratio_fine(value->f64, number, sizeof(number));
			fprintf(out, "<td class=\"n\">%s</td>", number);
		} else {
			put_cell(out, value, table->cols[col].metric->unit);
		}
		fputs("<td class=\"muted\">", out);
		html_text(out, table->cols[col].metric->help);
		fputs("</td></tr>\n", out);
	}
	fputs("</tbody></table>\n", out);
}

static void put_window(FILE *out, const struct report *report)
{
	time_t seconds = report->time_unix_ns / 1000000000;
	char when[40] = "", length[32];
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	fputs("<p class=\"muted\">", out);
	html_textf(out, "subtick %s", report->command);
	if (report->source)
		html_textf(out, ", source %s", report->source);
	if (report->window_ns) {
		view_format_ns((double)report->window_ns, length, sizeof(length));
		html_textf(out, ", window %s", length);
	}
	if (report->time_unix_ns)
		html_textf(out, ", taken %s", when);
	fputs("</p>\n", out);
}

static size_t section_of(const struct report *report)
{
	for (size_t i = 0; i < NR_SECTIONS; i++)
		if (!strcmp(sections[i].command, report->command))
			return i;
	return NR_SECTIONS;
}

/* Calls @fn for every report, in the order of the sections; @fn gets a heading where a part begins. */
static int for_each_report(FILE *out, const struct html_doc *doc,
			   int (*fn)(FILE *, const struct report *))
{
	int rc = 0;

	for (size_t part = 0; part <= NR_SECTIONS; part++) {
		bool begun = false;

		for (size_t i = 0; i < doc->nr_reports && !rc; i++) {
			if (section_of(doc->reports[i]) != part)
				continue;
			if (!begun) {
				fputs("<h3>", out);
				html_text(out, part < NR_SECTIONS ? sections[part].title :
								    doc->reports[i]->command);
				fputs("</h3>\n", out);
			}
			begun = true;
			rc = fn(out, doc->reports[i]);
		}
	}
	return rc;
}

static int part_summary(FILE *out, const struct report *report)
{
	char *lines = NULL;
	size_t size = 0;
	FILE *list = open_memstream(&lines, &size);

	if (!list)
		return -ENOMEM;
	html_summary(list, report);
	if (fclose(list)) {
		free(lines);
		return -ENOMEM;
	}
	/* An experiment of several may have nothing to say by itself. */
	if (size)
		fprintf(out, "<ul>\n%s</ul>\n", lines);
	free(lines);
	return 0;
}

static int part_plots(FILE *out, const struct report *report)
{
	put_window(out, report);
	return html_plots(out, report);
}

static int part_tables(FILE *out, const struct report *report)
{
	put_window(out, report);
	for (size_t i = 0; i < report->nr_tables; i++)
		put_table(out, report->tables[i]);
	put_single(out, report->fields, "Figures of the whole");
	put_single(out, report->quality, "Quality: errors and losses");
	return 0;
}

static int part_notes(FILE *out, const struct report *report)
{
	size_t part = section_of(report);

	if (part < NR_SECTIONS) {
		fputs("<p>", out);
		html_text(out, sections[part].method);
		fputs("</p>\n", out);
	}
	put_window(out, report);
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
		fputs("<p class=\"loss\">Out of memory: losses cannot be listed.</p>\n", out);
	else if (nr)
		fprintf(out,
			"<div class=\"loss\"><strong>Lost, doubtful or missing</strong><ul>\n%s</ul></div>\n",
			lines);
	else
		fputs("<p>Nothing was lost, and nothing is missing.</p>\n", out);
	free(lines);
}

static void put_head(FILE *out, const struct html_doc *doc)
{
	fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<title>subtick report</title>\n<style>",
	      out);
	fputs(style, out);
	fputs("</style></head><body>\n<header><h1>subtick report</h1>\n", out);
	if (doc->machine) {
		fputs("<p class=\"muted\">", out);
		html_text(out, doc->machine);
		fputs("</p>", out);
	}
	fputs("</header>\n<main>\n", out);
}

int html_write(FILE *out, const struct html_doc *doc)
{
	locale_t posix, old;
	int rc = 0;

	for (size_t i = 0; i < doc->nr_reports && !rc; i++)
		rc = report_check(doc->reports[i]);
	if (rc)
		return rc;
	posix = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	if (!posix)
		return -errno;
	old = uselocale(posix);
	put_head(out, doc);
	fputs("<h2>Summary</h2>\n", out);
	put_losses(out, doc);
	rc = for_each_report(out, doc, part_summary);
	fputs("<h2>Plots</h2>\n", out);
	if (!rc)
		rc = for_each_report(out, doc, part_plots);
	fputs("<h2>Tables</h2>\n", out);
	if (!rc)
		rc = for_each_report(out, doc, part_tables);
	fputs("<h2>Method</h2>\n", out);
	if (!rc)
		rc = for_each_report(out, doc, part_notes);
	fputs("</main></body></html>\n", out);
	errno = 0;
	if (!rc && fflush(out))
		rc = -errno;
	else if (!rc && ferror(out))
		rc = -EIO;
	uselocale(old);
	freelocale(posix);
	return rc;
}
