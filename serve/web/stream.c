/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /api/v1/stream: sends each window as a server-sent event. A stream ends with its connection, so
 * the response needs neither Content-Length nor chunks.
 */
#include "serve/web/http.h"

#include <string.h>

#include "base/clock.h"

/* Maximum number of unsent bytes per stream. A client with more unsent bytes is disconnected. */
#define MAX_UNSENT (8 * 1024 * 1024)
/* At the limit of streams, a stream without progress for STALLED_NS may be closed. */
#define STALLED_NS (1 * NSEC_PER_SEC)

/* Closes the stream that stalled longest. False if all clients are receiving data. */
static bool make_room(struct server *server)
{
	struct conn *worst = NULL;
	uint64_t now_ns = clock_mono_ns();

	conns_for_each(conn, &server->conns) {
		if (!conn->stream || !conn_is_open(conn))
			continue;
		conn_update_backlog(conn, now_ns);
		if (!worst || conn->progress_ns < worst->progress_ns)
			worst = conn;
	}
	if (!worst || now_ns - worst->progress_ns < STALLED_NS)
		return false;
	conn_cut(worst, CONN_CUT_STALLED);
	return true;
}

/* The last window as a server-sent event with one data field, because the JSON is one line. */
static struct body *event_of(struct server *server, size_t index)
{
	struct body *json = api_body(server, index, false);
	const char *name = server->collectors.list[index].ops->name;
	struct body *body = json ? body_new(false, json->len + strlen(name) + 16) : NULL;

	if (!body)
		return NULL;
	body_append(body, "event: ", 7);
	body_append(body, name, strlen(name));
	body_append(body, "\ndata: ", 7);
	body_append(body, json->data, json->len);
	body_append(body, "\n", 1);
	return body_finish(body);
}

/* Queues the last windows for the stream @only, or for all streams if @only is NULL. */
static void queue(struct server *server, struct conn *only)
{
	for (size_t i = 0; i < CONFIG_NR_COLLECTORS; i++) {
		struct body *body = NULL;

		conns_for_each(conn, &server->conns) {
			if (!(conn->stream & 1u << i) || !conn_is_open(conn) ||
			    (only && conn != only))
				continue;
			if (!body)
				body = event_of(server, i);
			if (!body)
				break;
			if (conn->out_bytes > MAX_UNSENT || !conn_queue(conn, body))
				conn_cut(conn, CONN_CUT_STALLED);
		}
		body_put(body);
	}
}

void stream_update(struct server *server)
{
	if (!server->conns.nr_streams)
		return;
	queue(server, NULL);
	conns_for_each(conn, &server->conns)
		if (conn->stream)
			conn_flush(conn);
}

void stream_answer(struct server *server, struct request *request)
{
	unsigned int collectors;

	if (request->head) {
		answer_text(server, request, HTTP_BADMETHOD, "use GET for a stream");
		return;
	}
	if (!api_collectors(server, request, &collectors))
		return;
	if (server->conns.nr_streams >= SERVER_MAX_STREAMS && !make_room(server)) {
		answer_text(server, request, HTTP_SERVUNAVAIL,
			    "too many streams are open; try again later");
		return;
	}
	request->conn->keep = false;
	answer_send(server, request, HTTP_OK, "text/event-stream", "no-store", NULL);
	conn_stream(request->conn, collectors);
	queue(server, request->conn);
}

void stream_close(struct server *server)
{
	conns_for_each(conn, &server->conns)
		if (conn->stream)
			conn_close(conn);
}
