/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any JSON: a report that was read back is written the same again, and its HTML has no foreign markup. */
#include "fuzz.h"

#include "report/read_json.h"
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

/* The tags that the document itself is made of; anything else came from a name. */
static bool tag_known(const char *tag)
{
	static const char *const tags[] = {
		"!doctype", "html",  "head", "meta",	"title", "style", "body", "header", "h1",  "h2",
		"h3",	    "p",     "main", "div",	"ul",	 "li",	  "strong", "table",  "caption",
		"thead",    "tbody", "tr",   "th",	"td",	 "svg",	  "rect", "path",   "text",
		"g",	    "circle", "figure", "em",
	};
	size_t length;

	tag += *tag == '/';
	length = strcspn(tag, " >/\n");
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
		if (strlen(tags[i]) == length && !strncmp(tag, tags[i], length))
			return true;
	return false;
}

static void check_html(const struct report *report)
{
	const struct report *reports[] = {report};
	struct html_doc doc = {.reports = reports, .nr_reports = 1};
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	FUZZ_CHECK(out);
	FUZZ_CHECK(!html_write(out, &doc));
	fclose(out);
	FUZZ_CHECK(strlen(text) == size);
	for (const char *p = text; (p = strchr(p, '<')); p++)
		FUZZ_CHECK(tag_known(p + 1));
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
	check_html(report);
	free(one);
	free(two);
	report_free(report);
	report_free(again);
}

FUZZ_BYTES(fuzz_report)
