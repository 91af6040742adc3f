/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds findings to a report, sorted by lost time. */
#include "report/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY "findings"

struct finding_row {
	const char *rule, *text, *next, *cause;
	struct finding f;
};

#define F(id, member, ...) \
	COLUMN(struct finding_row, id, f.member, .flags = COLUMN_LATER __VA_ARGS__)

static const struct column_spec finding_columns[] = {
	COLUMN(struct finding_row, M_RULE, rule),
	COLUMN(struct finding_row, M_FINDING, text),
	COLUMN(struct finding_row, M_LOST_NS, f.lost_ns),
	COLUMN(struct finding_row, M_NEXT, next),
	COLUMN(struct finding_row, M_FINDING_CAUSE, cause, .flags = COLUMN_LATER),
	F(M_VICTIM, victim, | COLUMN_EMPTY_IS_NULL),
	F(M_CULPRIT, culprit, | COLUMN_EMPTY_IS_NULL),
	F(M_CPU, cpu),
	F(M_FINDING_SHARE, share),
	F(M_PERCENTILE_NS, p99_ns, | COLUMN_ROUND, .key = "p99_ns", .title = "p99"),
	F(M_NEXT_COMMAND, command, | COLUMN_EMPTY_IS_NULL),
	F(M_NEXT_SETTING, setting, | COLUMN_EMPTY_IS_NULL),
};
const struct table_spec findings_table = TABLE(KEY, NULL, finding_columns);

#define COL_LOST  2
#define COL_CAUSE 4

static const char more[] = "there are more findings than are listed; these lost most time";

void finding_format(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (vsnprintf(buf, size, fmt, ap) >= (int)size)
		buf[0] = '\0';
	va_end(ap);
}

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

/* True if the finding in table row @row is less important than @finding. */
static bool is_lower(const struct table *table, size_t row, const struct finding *finding)
{
	bool accounting = !strcmp(table_cell(table, row, COL_CAUSE)->str, CAUSE_ACCOUNTING);

	if (accounting != !strcmp(finding->rule->cause, CAUSE_ACCOUNTING))
		return accounting;
	return table_cell(table, row, COL_LOST)->u64 < finding->lost_ns;
}

/*
 * Returns the index of the row for @finding. If the table already has FINDINGS_MAX rows, @finding
 * replaces the last row. Returns SIZE_MAX if all of FINDINGS_MAX rows have more lost time than
 * @finding.
 */
static size_t row_for(struct report *report, struct table *table, const struct finding *finding)
{
	size_t last = FINDINGS_MAX - 1, i = 0;

	if (table->nr_rows < FINDINGS_MAX)
		return table_row(table);
	while (i < report->nr_notes && strcmp(report->notes[i], more))
		i++;
	if (i == report->nr_notes)
		report_note(report, "%s", more);
	return is_lower(table, last, finding) ? last : SIZE_MAX;
}

static void add_row(struct report *report, struct table *table, const struct finding_row *row)
{
	size_t at = row_for(report, table, &row->f);

	if (at == SIZE_MAX || report->failed)
		return;
	columns_fill(table, at, row);
	for (; !report->failed && at && is_lower(table, at - 1, &row->f); at--)
		for (size_t col = 0; col < table->nr_cols; col++) {
			struct value *upper = table_cell(table, at - 1, col), keep = *upper;

			*upper = *table_cell(table, at, col);
			*table_cell(table, at, col) = keep;
		}
}

/*
 * Writes text as one quoted word of a shell command, because users copy commands into a shell and
 * names of cgroups are untrusted.
 */
static void put_word(FILE *out, const char *text, size_t len)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "/_.:@%+=,-";

	if (strspn(text, plain) >= len) {
		fwrite(text, 1, len, out);
		return;
	}
	putc('\'', out);
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\'')
			fputs("'\\''", out);
		else
			putc(text[i], out);
	putc('\'', out);
}

/* Writes "echo VALUE > PATH" for the setting "PATH=VALUE". */
static void put_setting(FILE *out, const char *setting)
{
	const char *value = strrchr(setting, '=');

	fputs("echo ", out);
	put_word(out, value + 1, strlen(value + 1));
	fputs(" > ", out);
	put_word(out, setting, (size_t)(value - setting));
}

bool finding_add_setting(char command[FINDING_TEXT], const char *setting)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = strchr(setting, '=') ? open_memstream(&text, &size) : NULL;
	bool fits;

	if (!out)
		return false;
	fprintf(out, "%s%s", command, command[0] ? "; " : "");
	put_setting(out, setting);
	fits = !fclose(out) && size < FINDING_TEXT;
	if (fits)
		memcpy(command, text, size + 1);
	free(text);
	return fits;
}

/* Formats the shell commands that change a setting and measure the effect with `subtick try`. */
static char *setting_command(const struct finding *f)
{
	char *text = NULL;
	size_t size;
	FILE *out = strchr(f->setting, '=') ? open_memstream(&text, &size) : NULL;

	if (!out)
		return NULL;
	put_setting(out, f->setting);
	if (f->victim[0]) {
		fputs("; to confirm: subtick try --set ", out);
		put_word(out, f->setting, strlen(f->setting));
		fputs(" --watch ", out);
		put_word(out, f->victim, strlen(f->victim));
	}
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* Lost time of a victim that is meant to wait: a tenth, and at most 20 ms per second. */
static uint64_t meant_ns(const struct report *report, uint64_t lost_ns)
{
	return lost_ns / 10 < report->window_ns / 50 ? lost_ns / 10 : report->window_ns / 50;
}

void findings_add(struct report *report, const struct finding *finding, const char *fmt, ...)
{
	const struct finding_rule *rule = finding->rule;
	struct finding_row row = {
		.rule = rule->name, .cause = rule->cause, .next = rule->next, .f = *finding};
	struct table *table = (struct table *)findings_of(report);
	char *text = NULL, *setting = NULL, *next = NULL;
	va_list ap;

	if (finding->meant)
		row.f.lost_ns = meant_ns(report, finding->lost_ns);
	if (!table || !findings_due(report, rule, row.f.lost_ns))
		return;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		report->failed = true;
	va_end(ap);
	if (!report->failed && finding->setting[0])
		report->failed = !(setting = setting_command(finding));
	if (report->failed)
		return;
	row.text = text;
	row.next = setting		 ? setting
		   : finding->command[0] ? finding->command
		   : finding->next	 ? finding->next
					 : rule->next;
	if (finding->only_if[0] && (setting || finding->command[0])) {
		if (asprintf(&next, "%s; %s", row.next, finding->only_if) < 0)
			next = NULL;
		report->failed |= !next;
		row.next = next;
	}
	add_row(report, table, &row);
	free(next);
	free(text);
	free(setting);
}

const char *findings_rate(const struct report *report, uint64_t lost_ns, char *buf, size_t size)
{
	double ms = report->window_ns ? 1e3 * (double)lost_ns / (double)report->window_ns : 0.0;

	if (ms >= 1000.0)
		snprintf(buf, size, "on average %.1f tasks wait", ms / 1e3);
	else
		snprintf(buf, size, "%.*f ms per second", ms < 10.0, ms);
	return buf;
}
