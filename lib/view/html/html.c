/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes a report: the live page, its data, and text for readers without JavaScript. */
#include "view/html/html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/html/assets.h"
#include "view/output.h"

/* html_text() line by line: it shows a line feed as \x0a. */
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
