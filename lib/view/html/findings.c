/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The findings of all reports in one list, the most time lost first. */
#include "view/html/html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "report/findings.h"

#define MOST 10

struct entry {
	const struct table *table;
	size_t row;
	double lost; /* per time */
};

static int by_lost(const void *a, const void *b)
{
	double left = ((const struct entry *)a)->lost, right = ((const struct entry *)b)->lost;

	return left < right ? 1 : -(left > right);
}

/* NULL with *@ret_nr of 0: none; NULL with SIZE_MAX: no memory. */
static struct entry *collect(const struct html_doc *doc, size_t *ret_nr)
{
	struct entry *entries = NULL;

	*ret_nr = 0;
	for (size_t i = 0; i < doc->nr_reports; i++) {
		const struct table *table = findings_of(doc->reports[i]);
		double window_ns = (double)doc->reports[i]->window_ns;

		for (size_t row = 0; table && window_ns > 0.0 && row < table->nr_rows; row++) {
			struct entry *bigger = grow(entries, *ret_nr, sizeof(*entries));

			if (!bigger) {
				free(entries);
				*ret_nr = SIZE_MAX;
				return NULL;
			}
			entries = bigger;
			entries[(*ret_nr)++] = (struct entry){
				table, row, table_number(table, row, "lost_ns") / window_ns};
		}
	}
	return entries;
}

int html_findings(FILE *out, const struct html_doc *doc)
{
	size_t nr, said = 0;
	struct entry *entries = collect(doc, &nr);

	if (nr == SIZE_MAX)
		return -ENOMEM;
	if (!nr)
		return 0;
	qsort(entries, nr, sizeof(*entries), by_lost);
	fputs("<ol class=\"findings\">\n", out);
	for (size_t i = 0; i < nr && said < MOST; i++) {
		const struct entry *e = &entries[i];
		const char *next = table_str(e->table, e->row, "next");

		fputs("<li><strong>", out);
		html_text(out, table_str(e->table, e->row, "finding") ?: "(empty)");
		fputs(".</strong>", out);
		if (next)
			html_textf(out, " Next: %s", next);
		fputs("</li>\n", out);
		said++;
	}
	fputs("</ol>\n", out);
	if (nr > said)
		fprintf(out, "<p class=\"muted\">%zu more are in the tables.</p>\n", nr - said);
	free(entries);
	return 0;
}
