/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the page of audit --paper: tables of the report, and the figures beside it as images. */
#include <errno.h>
#include <stdlib.h>

#include "view/cells.h"
#include "view/html/html.h"
#include "view/view.h"
#include "view/svg/audit.h"

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
		fputs(cells_left(table, col) ? "<td>" : "<td class=\"n\">", out);
		html_text(out, text);
		fputs("</td>", out);
		free(text);
	}
	fputs("</tr>\n", out);
	return 0;
}

static int put_table(FILE *out, const struct table *table)
{
	int rc = 0;

	fputs("<h2>", out);
	html_text(out, table->title);
	fputs("</h2>\n<table>\n<tr>", out);
	for (size_t col = 0; col < table->nr_cols; col++) {
		if (table->cols[col].data_only)
			continue;
		fputs("<th>", out);
		html_text(out, table->cols[col].title);
		fputs("</th>", out);
	}
	fputs("</tr>\n", out);
	for (size_t row = 0; row < table->nr_rows && !rc; row++)
		rc = put_row(out, table, row);
	fputs("</table>\n", out);
	return rc;
}

int html_paper_write(FILE *out, const struct report *report)
{
	struct output output;
	int rc = report_check(report);

	if (!rc)
		rc = output_begin(&output, out);
	if (rc)
		return rc;
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
	      "<title>CPU usage data: the paper and this machine</title>\n"
	      "<style>body{font-family:sans-serif;max-width:60em;margin:auto;padding:1em}"
	      "table{border-collapse:collapse}td,th{padding:.2em .6em;text-align:left;"
	      "border-bottom:1px solid #ddd}.n{text-align:right}img{max-width:100%}</style>\n"
	      "<h1>CPU usage data: the paper and this machine</h1>\n<ul>\n",
	      out);
	for (size_t i = 0; i < report->nr_notes; i++) {
		fputs("<li>", out);
		html_text(out, report->notes[i]);
		fputs("</li>\n", out);
	}
	fputs("</ul>\n", out);
	for (size_t i = 0; i < report->nr_tables && !rc; i++)
		rc = put_table(out, report->tables[i]);
	for (size_t i = 0; i < AUDIT_NR_PAPER_FIGURES; i++)
		fprintf(out, "<h2>Figure %s</h2>\n<img src=\"figure-%s.svg\" alt=\"figure %s\">\n",
			audit_paper_figures[i].number, audit_paper_figures[i].number,
			audit_paper_figures[i].number);
	fputs("</html>\n", out);
	return output_end(&output, rc);
}
