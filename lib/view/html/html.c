/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes a report: the live page, its data, and text for readers without JavaScript. */
#include "view/html/html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/html/assets.h"
#include "view/utf8.h"
#include "view/view.h"

void html_text(FILE *out, const char *text)
{
	static const char special[] = "<>&\"'";
	static const char *const names[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
	char *safe = utf8_printable(text, 0);

	for (const char *p = safe ?: "(out of memory)"; *p; p++) {
		const char *at = strchr(special, *p);

		if (at)
			fputs(names[at - special], out);
		else
			putc(*p, out);
	}
	free(safe);
}

/* Writes JSON into a script element: "<" becomes \u003c, so that no name can end the element. */
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
	char *safe = utf8_printable(text, 0), *json = NULL;
	size_t size = 0;
	FILE *buffer = open_memstream(&json, &size);

	if (buffer) {
		json_put_text(buffer, safe ?: "?");
		fclose(buffer);
	}
	if (json)
		html_json(out, json, size);
	else
		fputs("\"?\"", out);
	free(json);
	free(safe);
}

/* Replaces "us" by "µs", which some terminals cannot show and every browser can. */
const char *html_ns(double ns, char *buf, size_t size)
{
	size_t length;

	view_format_ns(ns, buf, size);
	length = strlen(buf);
	if (length >= 3 && !strcmp(buf + length - 3, " us") && length + 2 <= size)
		memcpy(buf + length - 2, "µs", sizeof("µs"));
	return buf;
}

/* Writes @text line by line, because html_text() writes a line feed as \x0a. */
static int put_lines(FILE *out, const char *text)
{
	char *copy = strdup(text), *rest = copy;

	if (!copy)
		return -ENOMEM;
	fputs("<pre>", out);
	for (char *line; (line = strsep(&rest, "\n"));) {
		html_text(out, line);
		putc('\n', out);
	}
	fputs("</pre>", out);
	free(copy);
	return 0;
}

static int put_noscript(FILE *out, const struct html_doc *doc)
{
	int rc;

	fputs("<noscript>\n<p>", out);
	html_text(out, doc->machine ?: "");
	fputs("</p>\n", out);
	rc = doc->findings && *doc->findings ? put_lines(out, doc->findings) : 0;
	for (size_t i = 0; i < doc->nr_missing; i++) {
		fputs("<p>", out);
		html_text(out, doc->missing[i].command);
		fputs(" is missing: ", out);
		html_text(out, doc->missing[i].why);
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
	for (size_t i = 0; i < doc->nr_missing; i++) {
		fputs(i ? ",{\"command\":" : "{\"command\":", out);
		html_json_text(out, doc->missing[i].command);
		fputs(",\"why\":", out);
		html_json_text(out, doc->missing[i].why);
		putc('}', out);
	}
	fputs("],\n\"windows\":[\n", out);
	html_json(out, doc->windows, doc->windows_size);
	fputs("]}</script>\n", out);
}

int html_write(FILE *out, const struct html_doc *doc)
{
	struct output output;
	int rc = output_begin(&output, out);

	if (rc)
		return rc;
	fprintf(out, "%s<style>%s</style>\n%s", web_report_head, web_style, web_report_body);
	rc = put_noscript(out, doc);
	put_data(out, doc);
	fprintf(out, "<script>%s</script>\n</body>\n</html>\n", web_script);
	return output_end(&output, rc);
}
