/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares the variable part of an HTML report with a reviewed file: the text for browsers without
 * JavaScript, and the windows as JSON. UPDATE_GOLDEN=1 rewrites the file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "sample.h"
#include "view/html/html.h"
#include "view/view.h"

#define BEGIN "<noscript>"
#define END   "<script>\"use strict\""

/*
 * JSON object of another program, with raw UTF-8, U+2028 and markup. The test adds it to the JSON
 * of the reports.
 */
static const char foreign[] =
	",{\"schema\":\"subtick.foreign/1\",\"name\":\"</script><!--<script>\xe2\x80\xa8 \xc3\xbc\"}";

static void put_sample(FILE *windows, FILE *text, struct report *report)
{
	struct view json = {.format = VIEW_JSON, .out = windows}, plain = {.out = text};

	fputs(ftell(windows) ? "," : "", windows);
	view_write(&json, report);
	view_write(&plain, report);
	report_free(report);
}

static int render(FILE *out)
{
	static const struct html_missing missing[] = {{"crit", "no \"module\" & <no> reason\n\xff"}};
	struct html_doc doc = {
		.machine = "host<b>, a machine",
		.findings = "/a<b> waits. Next: subtick runq\n",
		.missing = missing,
		.nr_missing = 1,
	};
	char *windows = NULL, *text = NULL;
	size_t text_size;
	FILE *data = open_memstream(&windows, &doc.windows_size),
	     *plain = open_memstream(&text, &text_size);
	int rc;

	if (!data || !plain)
		return -ENOMEM;
	put_sample(data, plain, sample_load());
	put_sample(data, plain, sample_runq());
	put_sample(data, plain, sample_doctor());
	fputs(foreign, data);
	fclose(data);
	fclose(plain);
	doc.windows = windows;
	doc.text = text;
	rc = html_write(out, &doc);
	free(windows);
	free(text);
	return rc;
}

/*
 * Returns the part of the page between its fixed beginning and its script, or NULL on failure. The
 * caller frees the part.
 */
static char *own_part(void)
{
	char *text = NULL, *begin, *end, *part = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int rc = out ? render(out) : -ENOMEM;

	if (out)
		fclose(out);
	begin = rc ? NULL : strstr(text, BEGIN);
	end = begin ? strstr(begin, END) : NULL;
	if (end)
		part = strndup(begin, end - begin);
	free(text);
	return part;
}

/*
 * True if the first "<" in the embedded JSON data belongs to the end tag "</script>". A browser
 * ends a script element at "</script", and "<!--" would change how the browser parses the script.
 */
static bool data_is_closed(const char *part)
{
	const char *data = strstr(part, "id=\"data\">"), *next = data ? strchr(data, '<') : NULL;

	return next && !strcmp(next, "</script>\n");
}

static bool full_disk_fails(void)
{
	FILE *out = fopen("/dev/full", "w");
	int rc = out ? render(out) : 0;

	if (out)
		fclose(out);
	return rc == -ENOSPC;
}

int main(int argc, char **argv)
{
	int failed;
	char *part;

	if (argc != 2)
		return 64;
	setenv("TZ", "UTC", 1);
	part = own_part();
	printf("1..4\n");
	failed = golden_tap(1, golden_same(argv[1], "report.html", part, part ? strlen(part) : 0),
			    "report.html");
	failed |= golden_tap(2, part && !strstr(part, "<b>") && !strstr(part, "<no>"),
			     "no byte of a name is markup");
	failed |= golden_tap(3, part && data_is_closed(part),
			     "no byte of a window ends its script element");
	failed |= golden_tap(4, full_disk_fails(), "a full disk is an error");
	free(part);
	return failed;
}
