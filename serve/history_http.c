/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Responses made from kept windows, and about the machine. */
#include "http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <zlib.h>

#include "base/clock.h"
#include "collector.h"
#include "view/html/html.h"

static uint64_t boot_unix_ns(void)
{
	struct timespec up;

	/* CLOCK_BOOTTIME includes the time that the machine was suspended. */
	if (clock_gettime(CLOCK_BOOTTIME, &up))
		return 0;
	return clock_unix_ns() - ((uint64_t)up.tv_sec * NSEC_PER_SEC + (uint64_t)up.tv_nsec);
}

int history_http_open(struct server *server)
{
	struct report *report = report_new("host");
	struct utsname name;

	if (!report || uname(&name)) {
		report_free(report);
		return -ENOMEM;
	}
	report->time_unix_ns = clock_unix_ns();
	value_str(report_field(report, M_HOSTNAME), name.nodename);
	value_str(report_field(report, M_KERNEL_RELEASE), name.release);
	value_u64(report_field(report, M_BOOT_UNIX_NS), boot_unix_ns());
	value_str(report_field(report, M_VERSION), SUBTICK_VERSION);
	for (int gzip = 0; gzip < 2 && !report->failed; gzip++)
		server->host[gzip] = api_render(report, gzip);
	report_free(report);
	snprintf(server->machine, sizeof(server->machine), "%s, %s %s, %s; measured by subtick %s",
		 name.nodename, name.sysname, name.release, name.machine, SUBTICK_VERSION);
	return server->host[0] && server->host[1] ? 0 : -ENOMEM;
}

void history_http_close(struct server *server)
{
	history_free(&server->history);
	body_put(server->past.body);
	body_put(server->host[0]);
	body_put(server->host[1]);
}

static size_t cells(const struct report *report)
{
	size_t nr = 0;

	for (size_t i = 0; i < report->nr_tables; i++)
		nr += report->tables[i]->nr_rows * report->tables[i]->nr_cols;
	return nr;
}

void history_http_update(struct server *server)
{
	uint64_t now_ns = clock_mono_ns();

	if (server->conns.nr_streams)
		server->history.watched_ns = now_ns;
	if (!history_due(&server->history, now_ns))
		return;
	for (unsigned int i = 0; i < collector_count(); i++) {
		struct collector *c = &server->collectors[i];
		const struct report *report;
		struct body *body = NULL;

		if (!c->meter || (c->history_skip && c->history_skip--))
			continue;
		report = collector_report(c);
		if (report && cells(report) > HISTORY_CELLS)
			c->history_skip = HISTORY_SKIP;
		else
			body = api_body(server, i, true);
		if (body)
			history_add(&server->history, now_ns, c->report->time_unix_ns, i, body);
	}
}

/* One body for all clients, until the next window is kept. */
static struct body *history_body(struct server *server, unsigned int collectors)
{
	const struct history *history = &server->history;
	struct cached *cached = &server->past;
	struct body *body;

	if (cached->body && cached->generation == history->last_ns &&
	    server->past_collectors == collectors)
		return cached->body;
	body_put(cached->body);
	cached->body = NULL;
	body = body_new(false, history->bytes);
	for (size_t i = 0; body && i < history->nr; i++)
		if (collectors & 1u << history->entries[i].collector)
			body_append(body, history->entries[i].slab->data + history->entries[i].at,
				    history->entries[i].len);
	if (body && body_finish(body)) {
		body_put(body);
		body = NULL;
	}
	*cached = (struct cached){.body = body, .generation = history->last_ns};
	server->past_collectors = collectors;
	return body;
}

void history_http_history(struct server *server, struct request *request, const char *query)
{
	unsigned int collectors;
	struct body *body;

	server->history.watched_ns = clock_mono_ns();
	if (!api_collectors(server, request, query, &collectors))
		return;
	body = history_body(server, collectors);
	if (body)
		answer_body(server, request, "application/gzip", body);
	else
		answer_text(server, request, HTTP_SERVUNAVAIL, "out of memory");
}

/* Windows as the report embeds them: JSON objects, separated by commas. */
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

static int windows_unpack(struct windows *w, const struct history_entry *entry)
{
	z_stream z = {.next_in = (unsigned char *)entry->slab->data + entry->at,
		      .avail_in = entry->len};
	char *text = malloc(entry->raw_len + 1);
	int rc = -ENOMEM;

	if (!text || inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
		goto out;
	z.next_out = (unsigned char *)text;
	z.avail_out = entry->raw_len + 1;
	rc = inflate(&z, Z_FINISH) == Z_STREAM_END ? 0 : -EIO;
	if (!rc)
		windows_add(w, text, z.total_out);
	inflateEnd(&z);
out:
	free(text);
	return rc;
}

/* The last window of each collector, or with @at_ns the kept window that ended nearest to it. */
static int windows_gather(struct windows *w, struct server *server, uint64_t at_ns)
{
	int rc = 0;

	for (unsigned int i = 0; i < collector_count() && !rc; i++) {
		const struct history_entry *entry;
		struct body *body;

		if (!server->collectors[i].meter)
			continue;
		if (at_ns) {
			entry = history_find(&server->history, i, at_ns);
			rc = entry ? windows_unpack(w, entry) : 0;
		} else if ((body = api_body(server, i, false))) {
			windows_add(w, body->data, body->len);
		}
	}
	if (w->nr && server->doctor[0])
		windows_add(w, server->doctor[0]->data, server->doctor[0]->len);
	return rc;
}

/* NULL without memory, or if there is no window: then *@ret_nr is 0. */
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
		body = body_new(false, len);
	if (body) {
		body_append(body, text, len);
		if (body_finish(body)) {
			body_put(body);
			body = NULL;
		}
	}
	free(windows.text);
	free(text);
	return body;
}

/* The parameter "at": seconds with a fraction, as in a link of the page. 0 without it. False: invalid. */
static bool moment(const char *query, uint64_t *ret_ns)
{
	char at[32], *end;
	double seconds;

	*ret_ns = 0;
	if (!request_query(query, "at", at, sizeof(at)))
		return true;
	seconds = strtod(at, &end);
	/* Ten thousand million seconds are the year 2286, and fit as nanoseconds. */
	if (end == at || *end || !(seconds > 0 && seconds < 1e10))
		return false;
	*ret_ns = (uint64_t)(seconds * 1e9);
	return true;
}

void history_http_report(struct server *server, struct request *request, const char *query)
{
	struct body *body;
	uint64_t at_ns;
	size_t nr;

	if (!moment(query, &at_ns)) {
		answer_text(server, request, HTTP_BADREQUEST, "at: expected seconds since 1970");
		return;
	}
	body = render(server, at_ns, &nr);
	if (!body) {
		answer_text(server, request, HTTP_SERVUNAVAIL,
			    nr ? "out of memory" : "no window of that time is kept");
		return;
	}
	request->extra =
		"Content-Disposition: attachment; filename=\"subtick-report.html\"\r\n";
	answer_body(server, request, "text/html; charset=utf-8", body);
	body_put(body);
}

void history_http_host(struct server *server, struct request *request)
{
	answer_body(server, request, "application/json", server->host[answer_wants_gzip(request)]);
}
