/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzz target for reports with hostile names: exact in JSON and CSV, harmless in text. */
#include "fuzz.h"

#include <jansson.h>

#include "base/utf8.h"
#include "tests/utf8_valid.h"
#include "view/utf8.h"
#include "view/view.h"

#define MAX_NAMES 16

struct names {
	const char *name[MAX_NAMES];
	size_t nr;
};

/*
 * Makes a report with a row per name of @names. The number in a row is computed from the first byte
 * of the name.
 */
static struct report *make(const struct names *names)
{
	struct report *report = report_begin("fuzz", 0, 1000, names->name[0]);
	struct table *table = report_table(report, "rows", "rows");

	table_col(table, M_CHECK);
	table_col(table, M_TASK_RATIO);
	table_col(table, M_IDLE_RATIO);
	table_col(table, M_DETAIL);
	table_col(table, M_FIX);
	table->bar_first = 1;
	table->bar_end = 3;
	for (size_t i = 0; i < names->nr; i++) {
		table_row(table);
		value_str(table_cell(table, i, 0), names->name[i]);
		value_f64(table_cell(table, i, 1), (signed char)names->name[i][0] / 50.0);
		value_str(table_cell(table, i, 3), names->name[names->nr - 1 - i]);
		if (i & 1)
			value_str(table_cell(table, i, 4), names->name[i]);
	}
	report_note(report, "%s", names->name[0]);
	FUZZ_CHECK(report_check(report) == 0);
	return report;
}

static char *print(const struct report *report, struct view view)
{
	char *text = NULL;
	size_t size = 0;

	view.out = open_memstream(&text, &size);
	FUZZ_CHECK(view.out && view_write(&view, report) == 0);
	fclose(view.out);
	FUZZ_CHECK(strlen(text) == size && size && text[size - 1] == '\n');
	return text;
}

static void check_text(const struct report *report, int width)
{
	struct view view = {.format = VIEW_TEXT, .width = width, .bars = width & 1, .all = true};
	char *text = print(report, view);
	uint32_t code;
	size_t len;

	for (const char *p = text; *p; p += len) {
		len = utf8_decode(p, UTF8_LONGEST, &code);
		FUZZ_CHECK(len && (code >= ' ' || code == '\n') && (code < 0x7f || code > 0x9f));
	}
	free(text);
}

static void check_json(const struct report *report, const struct names *names)
{
	char *text = print(report, (struct view){.format = VIEW_JSON});
	json_error_t err;
	json_t *json = json_loads(text, 0, &err), *rows = json_object_get(json, "rows");

	FUZZ_CHECK(strchr(text, '\n') == text + strlen(text) - 1);
	FUZZ_CHECK(json_array_size(rows) == names->nr);
	for (size_t i = 0; i < names->nr; i++) {
		json_t *name = json_object_get(json_array_get(rows, i), "check");
		char *valid = utf8_valid(names->name[i]);

		FUZZ_CHECK(valid && json_is_string(name));
		FUZZ_CHECK(!strcmp(json_string_value(name), valid));
		free(valid);
	}
	json_decref(json);
	free(text);
}

/* Reads a CSV field (RFC 4180) into @buf. Returns a pointer to the comma or newline. */
static const char *csv_field(const char *p, char *buf)
{
	if (*p == '"') {
		for (p++; *p != '"' || p[1] == '"'; p++) {
			FUZZ_CHECK(*p);
			p += *p == '"';
			*buf++ = *p;
		}
		p++;
	} else {
		for (; *p != ',' && *p != '\n'; p++) {
			FUZZ_CHECK(*p && *p != '"');
			*buf++ = *p;
		}
	}
	*buf = '\0';
	FUZZ_CHECK(*p == ',' || *p == '\n');
	return p;
}

/*
 * True if the CSV field @cell equals @shown. If the first character of @shown may start a
 * spreadsheet formula, @cell must have it as \xNN.
 */
static bool is_cell(const char *cell, const char *shown)
{
	char first[8];

	if (!*shown || !strchr("=+-@", *shown))
		return !strcmp(cell, shown);
	snprintf(first, sizeof(first), "\\x%02x", *shown);
	return !strncmp(cell, first, 4) && !strcmp(cell + 4, shown + 1);
}

static void check_csv(const struct report *report, const struct names *names)
{
	char *text = print(report, (struct view){.format = VIEW_CSV});
	char *buf = malloc(strlen(text) + 1);
	const char *p = strchr(text, '\n') + 1;

	FUZZ_CHECK(buf);
	for (size_t row = 0; row < names->nr; row++) {
		/* Columns of the CSV line: time, window, source, check, task, idle, detail, fix. */
		for (size_t col = 0; col < 8; col++) {
			char *shown = utf8_printable(names->name[col == 2 ? 0 : row], 0);

			p = csv_field(p, buf);
			FUZZ_CHECK(*p == (col == 7 ? '\n' : ','));
			p++;
			FUZZ_CHECK(shown && ((col != 2 && col != 3) || is_cell(buf, shown)));
			/* CSV fields contain no control characters. */
			for (const char *c = buf; *c; c++)
				FUZZ_CHECK((unsigned char)*c >= ' ' && *c != 0x7f);
			free(shown);
		}
	}
	FUZZ_CHECK(!*p);
	free(buf);
	free(text);
}

static void fuzz_view(const char *text)
{
	char *copy = strdup(text), *rest = copy, *name;
	struct names names = {.nr = 0};
	struct report *report;

	FUZZ_CHECK(copy);
	while (names.nr < MAX_NAMES && (name = strsep(&rest, "\n")))
		names.name[names.nr++] = name;
	report = make(&names);
	check_text(report, 0);
	check_text(report, 41);
	check_text(report, 80);
	check_json(report, &names);
	check_csv(report, &names);
	report_free(report);
	free(copy);
}

FUZZ_STRING(fuzz_view)
