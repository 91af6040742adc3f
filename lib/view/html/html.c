/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes HTML documents: reports with the scripts of the live page, and audit --paper. */
#include "view/html/html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/cells.h"
#include "view/svg/plots.h"
#include "view/utf8.h"
#include "view/view.h"

/* Writes JSON into a script element. "<" becomes \u003c, so that no text can end the element. */
static void html_json(FILE *out, const char *json, size_t size)
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
	char *safe = utf8_printable(text, 0);

	json_put_html(out, safe ?: "?");
	free(safe);
}

void html_element(FILE *out, const char *tag, const char *text)
{
	fprintf(out, "<%s>", tag);
	utf8_print_markup(out, text, 0, true);
	fprintf(out, "</%.*s>", (int)strcspn(tag, " "), tag);
}

/* Formats a duration with "µs", which browsers can show and some terminals cannot. */
const char *html_ns(double ns, char *buf, size_t size)
{
	size_t length;

	view_format_ns(ns, buf, size);
	length = strlen(buf);
	if (length >= 3 && !strcmp(buf + length - 3, " us") && length + 2 <= size)
		memcpy(buf + length - 2, "µs", sizeof("µs"));
	return buf;
}

/* Writes escaped text line by line, because utf8_print_markup() would escape the line feeds. */
static int put_lines(FILE *out, const char *text)
{
	char *copy = strdup(text), *rest = copy;

	if (!copy)
		return -ENOMEM;
	fputs("<pre>", out);
	for (char *line; (line = strsep(&rest, "\n"));) {
		utf8_print_markup(out, line, 0, true);
		putc('\n', out);
	}
	fputs("</pre>", out);
	free(copy);
	return 0;
}

static int put_noscript(FILE *out, const struct html_doc *doc)
{
	int rc;

	fputs("<noscript>\n", out);
	html_element(out, "p", doc->machine ?: "");
	putc('\n', out);
	rc = doc->findings && *doc->findings ? put_lines(out, doc->findings) : 0;
	array_for_each(missing, doc->missing, doc->nr_missing) {
		fputs("<p>", out);
		utf8_print_markup(out, missing->command, 0, true);
		fputs(" is missing: ", out);
		utf8_print_markup(out, missing->why, 0, true);
		fputs("</p>\n", out);
	}
	if (!rc && doc->text)
		rc = put_lines(out, doc->text);
	fputs("<p>Charts and tables need JavaScript.</p>\n</noscript>\n", out);
	return rc;
}

static void put_data(FILE *out, const struct html_doc *doc)
{
	fputs("<script type=\"application/json\" id=\"data\">{\"machine\":", out);
	html_json_text(out, doc->machine ?: "");
	fputs(",\n\"missing\":[", out);
	array_for_each(missing, doc->missing, doc->nr_missing) {
		fputs(missing > doc->missing ? ",{\"command\":" : "{\"command\":", out);
		html_json_text(out, missing->command);
		fputs(",\"why\":", out);
		html_json_text(out, missing->why);
		putc('}', out);
	}
	fputs("],\n\"windows\":[\n", out);
	html_json(out, doc->windows, doc->windows_size);
	fputs("]}</script>\n", out);
}

int html_write(FILE *out, const struct html_doc *doc)
{
	int rc;

	fprintf(out, "%s<style>%s</style>\n%s", web_report_head, web_style, web_report_body);
	rc = put_noscript(out, doc);
	put_data(out, doc);
	fprintf(out, "<script>%s</script>\n</body>\n</html>\n", web_script);
	return stream_end(out, rc);
}

static int put_row(FILE *out, const struct table *table, size_t row)
{
	fputs("<tr>", out);
	for (size_t col = 0; col < table->nr_cols; col++) {
		char *text;

		if (table->cols[col].data_only)
			continue;
		text = cells_text(table, row, col, 0);
		if (!text)
			return -ENOMEM;
		html_element(out, cells_left(table, col) ? "td" : "td class=\"n\"", text);
		free(text);
	}
	fputs("</tr>\n", out);
	return 0;
}

static int put_table(FILE *out, const struct table *table)
{
	int rc = 0;

	html_element(out, "h2", table->title);
	fputs("\n<table>\n<tr>", out);
	array_for_each(col, table->cols, table->nr_cols)
		if (!col->data_only)
			html_element(out, "th", col->title);
	fputs("</tr>\n", out);
	for (size_t row = 0; row < table->nr_rows && !rc; row++)
		rc = put_row(out, table, row);
	fputs("</table>\n", out);
	return rc;
}

int html_paper_write(FILE *out, const struct report *report)
{
	int rc = report_check(report);

	if (rc)
		return rc;
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
	      "<title>CPU usage data: the paper and this machine</title>\n"
	      "<style>body{font-family:sans-serif;max-width:60em;margin:auto;padding:1em}"
	      "table{border-collapse:collapse}td,th{padding:.2em .6em;text-align:left;"
	      "border-bottom:1px solid #ddd}.n{text-align:right}img{max-width:100%}</style>\n"
	      "<h1>CPU usage data: the paper and this machine</h1>\n<ul>\n",
	      out);
	array_for_each(note, report->notes, report->nr_notes) {
		html_element(out, "li", *note);
		putc('\n', out);
	}
	fputs("</ul>\n", out);
	array_for_each(table, report->tables, report->nr_tables)
		rc = rc ?: put_table(out, *table);
	array_for_each(figure, audit_paper_figures, AUDIT_NR_PAPER_FIGURES)
		fprintf(out, "<h2>Figure %s</h2>\n<img src=\"figure-%s.svg\" alt=\"figure %s\">\n",
			figure->number, figure->number, figure->number);
	fputs("</html>\n", out);
	return stream_end(out, rc);
}
