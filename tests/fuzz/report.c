/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzz target for reports in JSON: writing a report, parsing the text and writing the parsed report
 * gives the same text. The HTML output contains no markup from the input.
 */
#include "fuzz.h"

#include "report/report.h"
#include "view/html/html.h"
#include "view/view.h"

static char *to_json(const struct report *report)
{
	struct view view = {.format = VIEW_JSON};
	size_t size;
	char *text;

	view.out = open_memstream(&text, &size);
	FUZZ_CHECK(view.out);
	FUZZ_CHECK(!view_write(&view, report));
	fclose(view.out);
	return text;
}

/* Neither the JSON in the HTML page nor the text without JavaScript contains "<". */
static void check_html(const struct report *report, const char *json)
{
	struct view view = {.format = VIEW_TEXT};
	struct html_doc doc = {.windows = json, .windows_size = strlen(json)};
	char *plain, *text, *begin, *end;
	size_t size;
	FILE *out;

	view.out = open_memstream(&plain, &size);
	FUZZ_CHECK(view.out);
	FUZZ_CHECK(!view_write(&view, report));
	fclose(view.out);
	doc.text = plain;
	out = open_memstream(&text, &size);
	FUZZ_CHECK(out);
	FUZZ_CHECK(!html_write(out, &doc));
	fclose(out);
	FUZZ_CHECK(strlen(text) == size);
	begin = strstr(text, "<pre>");
	FUZZ_CHECK(begin);
	FUZZ_CHECK(strchr(begin + 1, '<') == strstr(begin, "</pre>"));
	begin = strstr(begin, "\"windows\":[");
	FUZZ_CHECK(begin);
	end = strstr(begin, "]}</script>\n<script>\"use strict\"");
	FUZZ_CHECK(end && strchr(begin, '<') == end + 2);
	free(plain);
	free(text);
}

static void fuzz_report(const char *text, size_t size)
{
	struct report *report, *again;
	struct err err = {0};
	size_t used = 0;
	char *one, *two;

	if (report_read_json(text, size, &report, &used, &err)) {
		FUZZ_CHECK(!used);
		return;
	}
	FUZZ_CHECK(used && used <= size);
	one = to_json(report);
	FUZZ_CHECK(!report_read_json(one, strlen(one), &again, &used, &err));
	two = to_json(again);
	FUZZ_CHECK(!strcmp(one, two));
	check_html(report, one);
	free(one);
	free(two);
	report_free(report);
	report_free(again);
}

FUZZ_BYTES(fuzz_report)
