/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps the findings of a report in order. */
#include "report/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/columns.h"

#define KEY "findings"

struct finding_row {
	const char *rule, *finding;
	uint64_t lost_ns;
	const char *next;
};

static const struct column_spec finding_columns[] = {
	COLUMN(struct finding_row, M_RULE, rule),
	COLUMN(struct finding_row, M_FINDING, finding),
	COLUMN(struct finding_row, M_LOST_NS, lost_ns),
	COLUMN(struct finding_row, M_NEXT, next),
};
const struct table_spec findings_table = TABLE(KEY, NULL, finding_columns);

#define COL_LOST 2

static const char more[] = "there are more findings than are listed; these lost most time";

const struct table *findings_of(const struct report *report)
{
	return report_find(report, KEY);
}

void findings_begin(struct report *report)
{
	struct table *table = columns_table(report, &findings_table, 0);

	if (table)
		table->sentences = true;
}

static void swap_rows(struct table *table, size_t a, size_t b)
{
	for (size_t col = 0; col < table->nr_cols; col++) {
		struct value *left = table_cell(table, a, col), *right = table_cell(table, b, col);
		struct value keep = *left;

		*left = *right;
		*right = keep;
	}
}

/* A new row. If the table is full, the last row if it has lost less time, else SIZE_MAX. */
static size_t row_for(struct report *report, struct table *table, uint64_t lost_ns)
{
	size_t last = FINDINGS_MAX - 1;
	bool said = false;

	if (table->nr_rows < FINDINGS_MAX)
		return table_row(table);
	for (size_t i = 0; i < report->nr_notes; i++)
		said = said || !strcmp(report->notes[i], more);
	if (!said)
		report_note(report, "%s", more);
	return table_cell(table, last, COL_LOST)->u64 < lost_ns ? last : SIZE_MAX;
}

void findings_add(struct report *report, const struct finding_rule *rule, uint64_t lost_ns,
		  const char *fmt, ...)
{
	struct finding_row row = {.rule = rule->name, .lost_ns = lost_ns, .next = rule->next};
	struct table *table = (struct table *)findings_of(report);
	char *text = NULL;
	va_list ap;
	size_t at;

	if (!table || !findings_due(report, rule, lost_ns))
		return;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		report->failed = true;
	va_end(ap);
	if (report->failed)
		return;
	row.finding = text;
	at = row_for(report, table, lost_ns);
	if (at != SIZE_MAX)
		columns_fill(table, at, &row);
	free(text);
	if (at == SIZE_MAX)
		return;
	while (!report->failed && at && table_cell(table, at - 1, COL_LOST)->u64 < lost_ns) {
		swap_rows(table, at - 1, at);
		at--;
	}
}

const char *findings_rate(const struct report *report, uint64_t lost_ns, char *buf, size_t size)
{
	double ms = report->window_ns ? 1e3 * (double)lost_ns / (double)report->window_ns : 0.0;

	if (ms >= 1000.0)
		snprintf(buf, size, "%.1f s per second", ms / 1e3);
	else
		snprintf(buf, size, "%.*f ms per second", ms < 10.0, ms);
	return buf;
}
