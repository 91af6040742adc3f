/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers /api/v1/report: the live page with embedded windows, as one HTML file. */
#include "serve/web/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "view/html/html.h"

/* Select windows that ended at most this time plus one interval before or after @at_ns. */
#define MAX_DISTANCE_NS (10 * NSEC_PER_SEC)

/* Windows that the report embeds: JSON objects separated by commas. */
struct windows {
	FILE *out;
	char *text;
	size_t size, nr;
};

static void windows_add(struct windows *w, const char *json, size_t size)
{
	fputs(w->nr++ ? "," : "", w->out);
	fwrite(json, 1, size, w->out);
}

static int windows_unpack(struct windows *w, const struct history *history,
			  const struct history_entry *entry)
{
	size_t len;
	char *text = history_inflate(history->data + entry->at, entry->len, &len);

	if (!text)
		return -ENOMEM;
	windows_add(w, text, len);
	free(text);
	return 0;
}

/* For each collector, the line in the history files whose window ended nearest to @at_ns. */
struct nearest {
	uint64_t at_ns;
	struct {
		char *line;
		uint64_t distance_ns;
	} found[CONFIG_NR_COLLECTORS];
};

static int nearest_block(void *arg, int fd, const struct history_member *member)
{
	struct nearest *n = arg;
	int index = collector_index(member->collector);
	size_t len;
	char *text = index < 0 ? NULL : history_unpack(fd, member, &len), *rest = text;

	/* Damaged history blocks have no text and are skipped. */
	for (char *line; (line = strsep(&rest, "\n"));) {
		uint64_t window_ns, away = abs_diff(history_line_time(line, &window_ns), n->at_ns);

		if (!*line || (n->found[index].line && away >= n->found[index].distance_ns))
			continue;
		free(n->found[index].line);
		n->found[index].line = strdup(line);
		n->found[index].distance_ns = away;
	}
	free(text);
	return 0;
}

/* The last window of each collector, or if @at_ns is not 0 the stored window nearest to it. */
static int windows_gather(struct windows *w, struct server *server, uint64_t at_ns)
{
	uint64_t max_distance_ns = MAX_DISTANCE_NS + server->config.interval_ns;
	struct nearest near = {.at_ns = at_ns};
	int rc = 0;

	if (at_ns && server->files.dir >= 0)
		rc = history_walk(server->files.dir,
				  at_ns > max_distance_ns ? (at_ns - max_distance_ns) / NSEC_PER_SEC : 0,
				  (at_ns + max_distance_ns) / NSEC_PER_SEC, nearest_block, &near);
	for (unsigned int i = 0; i < CONFIG_NR_COLLECTORS && !rc; i++) {
		const struct history_entry *entry;
		struct body *body;

		if (!server->collectors.list[i].meter)
			continue;
		entry = at_ns ? history_find(&server->history, i, at_ns) : NULL;
		if (near.found[i].line &&
		    (!entry || abs_diff(entry->unix_ns, at_ns) > near.found[i].distance_ns)) {
			windows_add(w, near.found[i].line, strlen(near.found[i].line));
		} else if (entry) {
			rc = windows_unpack(w, &server->history, entry);
		} else if (!at_ns && (body = api_body(server, i, false))) {
			windows_add(w, body->data, body->len);
		}
	}
	for (size_t i = 0; i < CONFIG_NR_COLLECTORS; i++)
		free(near.found[i].line);
	if (w->nr && server->doctor[0])
		windows_add(w, server->doctor[0]->data, server->doctor[0]->len);
	return rc;
}

/*
 * Renders the HTML report. Returns NULL if out of memory or if there is no window. Sets @ret_nr to
 * the number of windows.
 */
static struct body *render(struct server *server, uint64_t at_ns, size_t *ret_nr)
{
	struct html_doc doc = {.machine = server->machine};
	struct windows windows = {0};
	struct body *body = NULL;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int rc = -ENOMEM;

	windows.out = open_memstream(&windows.text, &windows.size);
	if (windows.out) {
		rc = windows_gather(&windows, server, at_ns);
		if (fclose(windows.out))
			rc = -ENOMEM;
	}
	*ret_nr = windows.nr;
	doc.windows = windows.text;
	doc.windows_size = windows.size;
	if (!rc && out && windows.nr)
		rc = html_write(out, &doc);
	if (out && !fclose(out) && !rc && windows.nr)
		body = body_of(false, text, len);
	free(windows.text);
	free(text);
	return body;
}

void history_http_report(struct server *server, struct request *request)
{
	struct body *body;
	uint64_t at_ns;
	size_t nr;

	if (!history_http_seconds(request, "at", &at_ns)) {
		answer_text(server, request, HTTP_BADREQUEST, "at: expected seconds since 1970");
		return;
	}
	body = render(server, at_ns, &nr);
	if (body)
		request->extra =
			"Content-Disposition: attachment; filename=\"subtick-report.html\"\r\n";
	answer_body(server, request, "text/html; charset=utf-8", body,
		    nr ? "out of memory" : "no window of that time is kept");
	body_put(body);
}
