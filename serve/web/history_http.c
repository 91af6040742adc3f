/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds windows to the histories in memory and on disk; answers /api/v1/history and /api/v1/host. */
#include "serve/web/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "serve/export/collector.h"

/* Maximum size of a response with history files: browsers unpack 8 MiB of gzip to about 100 MB. */
#define HISTORY_SENT (8u << 20)

static uint64_t boot_unix_ns(void)
{
	struct timespec up;

	/* CLOCK_BOOTTIME, like uptime, includes the time of suspend. */
	if (clock_gettime(CLOCK_BOOTTIME, &up))
		return 0;
	return clock_unix_ns() - ((uint64_t)up.tv_sec * NSEC_PER_SEC + (uint64_t)up.tv_nsec);
}

int history_http_open(struct server *server)
{
	struct report *report = report_begin("host", clock_unix_ns(), 0, NULL);
	struct utsname name;

	if (!report || uname(&name)) {
		report_free(report);
		return -ENOMEM;
	}
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
	history_files_close(&server->files);
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

/* Adds the last window of each collector to the history on disk. */
static void save(struct server *server, uint64_t now_ns)
{
	struct history_files *files = &server->files;
	uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (!history_files_within_budget(files, now_ns))
		return;
	for (unsigned int i = 0; i < CONFIG_NR_COLLECTORS; i++) {
		struct collector *c = &server->collectors.list[i];
		struct body *body = c->meter ? api_body(server, i, false) : NULL;

		if (!body || c->report_seq == server->files_seq[i])
			continue;
		/* Windows were skipped: the CPU budget was exceeded, or the event loop was late. */
		files->left_out += c->report_seq - server->files_seq[i] - 1;
		server->files_seq[i] = c->report_seq;
		history_files_add(files, i,
				  &(struct history_line){.collector = c->ops->name,
							 .json = body->data,
							 .len = body->len,
							 .unix_ns = c->report->time_unix_ns,
							 .now_ns = now_ns,
							 .interval_ns = server->config.interval_ns});
	}
	files->debt_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
}

void history_http_update(struct server *server)
{
	uint64_t now_ns = clock_mono_ns();

	if (server->files.dir >= 0)
		save(server, now_ns);
	if (server->conns.nr_streams)
		server->history.watched_ns = now_ns;
	if (!history_due(&server->history, now_ns))
		return;
	for (unsigned int i = 0; i < CONFIG_NR_COLLECTORS; i++) {
		struct collector *c = &server->collectors.list[i];
		const struct report *report;
		struct body *body = NULL;

		if (!c->meter || (c->history_skip && c->history_skip--))
			continue;
		report = collector_report(&server->collectors, i);
		if (report && cells(report) > HISTORY_CELLS)
			c->history_skip = HISTORY_SKIP;
		else
			body = api_body(server, i, true);
		if (body)
			history_add(&server->history, now_ns, c->report->time_unix_ns, i, body);
	}
}

bool history_http_seconds(const struct request *request, const char *name, uint64_t *ret_ns)
{
	double seconds;
	char text[32];

	*ret_ns = 0;
	if (!request_query(request->query, name, text, sizeof(text)))
		return true;
	/* 1e10 s is in the year 2286. 1e10 s in nanoseconds fit into 64 bits. */
	if (!opt_decimal(text, "", 1e-9, 1e10, &seconds))
		return false;
	*ret_ns = (uint64_t)(seconds * 1e9);
	return true;
}

/* Response of /api/v1/history that is being built. */
struct copied {
	struct body *body;
	unsigned int collectors;
};

static int copy_block(void *arg, int fd, const struct history_member *member)
{
	struct copied *copied = arg;
	int index = collector_index(member->collector);
	char *data;
	int rc = 0;

	if (index < 0 || !(copied->collectors & 1u << index))
		return 0;
	if (copied->body->len + member->size > HISTORY_SENT)
		return -EFBIG;
	data = malloc(member->size);
	if (!data || pread(fd, data, member->size, (off_t)member->at) != (ssize_t)member->size)
		rc = data ? -EIO : -ENOMEM;
	else
		body_append(copied->body, data, member->size);
	free(data);
	return rc;
}

/* Copies windows from the history in memory to the response. */
static void copy_entries(const struct history *history, uint64_t from_ns, uint64_t to_ns,
			 struct copied *copied)
{
	array_for_each(entry, history->entries, history->nr)
		if (copied->collectors & 1u << entry->collector && entry->unix_ns >= from_ns &&
		    entry->unix_ns <= to_ns)
			body_append(copied->body, history->data + entry->at, entry->len);
}

/*
 * Without ?at, sends all windows in memory. With ?at and ?for, sends the windows of the requested
 * time: from history files if --history is set, else from memory.
 */
void history_http_history(struct server *server, struct request *request)
{
	struct copied copied;
	uint64_t at_ns, for_ns;
	int rc = 0;

	if (!history_http_seconds(request, "at", &at_ns) ||
	    !history_http_seconds(request, "for", &for_ns)) {
		answer_text(server, request, HTTP_BADREQUEST, "at, for: expected seconds");
		return;
	}
	if (!api_collectors(server, request, &copied.collectors))
		return;
	copied.body = body_new(false, at_ns ? HISTORY_SENT / 16 : server->history.bytes);
	if (!copied.body)
		rc = -ENOMEM;
	else if (at_ns && server->files.dir >= 0)
		rc = history_walk(server->files.dir, at_ns / NSEC_PER_SEC,
				  (at_ns + for_ns) / NSEC_PER_SEC, copy_block, &copied);
	else
		copy_entries(&server->history, at_ns, at_ns ? at_ns + for_ns : UINT64_MAX, &copied);
	if (!at_ns)
		server->history.watched_ns = clock_mono_ns();
	if (!rc && !(copied.body = body_finish(copied.body)))
		rc = -ENOMEM;
	if (rc == -EFBIG)
		answer_text(server, request, HTTP_ENTITYTOOLARGE,
			    "more than 8 MiB: ask for a shorter time, or for fewer collectors");
	else if (rc)
		answer_text(server, request, HTTP_SERVUNAVAIL,
			    rc == -ENOMEM ? "out of memory" : "cannot read the history");
	else
		answer_body(server, request, "application/gzip", copied.body, NULL);
	body_put(copied.body);
}

void history_http_host(struct server *server, struct request *request)
{
	answer_body(server, request, "application/json",
		    server->host[request_accepts_gzip(request->accept_encoding)], NULL);
}
