/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /api/v1/stream: sends each window as a server-sent event to all clients. */
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>

#include "accept.h"
#include "answer.h"
#include "api.h"
#include "collectors.h"

/* A client with this many unsent bytes is disconnected: it will not catch up. */
#define MAX_UNSENT (8 * 1024 * 1024)

static void forget(struct server *server, size_t i)
{
	conns_stream_over(&server->conns, server->streams[i].connection);
	free(server->streams[i].only);
	server->streams[i] = server->streams[--server->nr_streams];
}

static void on_closed(struct evhttp_connection *connection, void *arg)
{
	struct server *server = arg;

	for (size_t i = 0; i < server->nr_streams; i++) {
		if (server->streams[i].connection != connection)
			continue;
		forget(server, i);
		return;
	}
}

static void end(struct server *server, size_t i)
{
	struct evhttp_request *request = server->streams[i].request;

	evhttp_connection_set_closecb(server->streams[i].connection, NULL, NULL);
	forget(server, i);
	evhttp_send_reply_end(request);
}

static size_t unsent(const struct stream *stream)
{
	return evbuffer_get_length(
		bufferevent_get_output(evhttp_connection_get_bufferevent(stream->connection)));
}

/* The whole window as one event: the JSON's only line break is at its end. */
static void send_event(struct server *server, struct stream *stream, size_t index)
{
	struct body *body = api_body(server, index, false);
	struct evbuffer *buffer;

	if (!body || (stream->only &&
		      !config_list_has(stream->only, server->collectors[index].ops->name)))
		return;
	buffer = evbuffer_new();
	if (!buffer)
		return;
	evbuffer_add_printf(buffer, "event: %s\ndata: ", server->collectors[index].ops->name);
	if (!body_send(body, buffer)) {
		evbuffer_add(buffer, "\n", 1);
		evhttp_send_reply_chunk(stream->request, buffer);
	}
	evbuffer_free(buffer);
}

static void send_all(struct server *server, struct stream *stream)
{
	for (size_t i = 0; i < collector_count(); i++)
		if (server->collectors[i].meter)
			send_event(server, stream, i);
}

void stream_update(struct server *server)
{
	for (size_t i = server->nr_streams; i-- > 0;) {
		if (unsent(&server->streams[i]) > MAX_UNSENT) {
			server->conns.cut[CONN_CUT_STALLED]++;
			end(server, i);
		} else {
			send_all(server, &server->streams[i]);
		}
	}
}

void stream_answer(struct server *server, struct evhttp_request *request, const char *query)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
	struct evhttp_connection *connection = evhttp_request_get_connection(request);
	struct stream *stream;
	char only[128];

	if (evhttp_request_get_command(request) != EVHTTP_REQ_GET) {
		answer_text(server, request, HTTP_BADMETHOD, "use GET for a stream");
		return;
	}
	if (server->nr_streams == SERVER_MAX_STREAMS) {
		answer_text(server, request, HTTP_SERVUNAVAIL,
			    "too many streams are open; try again later");
		return;
	}
	stream = &server->streams[server->nr_streams++];
	*stream = (struct stream){.request = request, .connection = connection};
	if (accept_query(query, "collect", only, sizeof(only)))
		stream->only = strdup(only);
	evhttp_add_header(headers, "Content-Type", "text/event-stream");
	evhttp_add_header(headers, "Cache-Control", "no-store");
	evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
	conns_asked(&server->conns, connection, true);
	evhttp_connection_set_closecb(connection, on_closed, server);
	evhttp_send_reply_start(request, HTTP_OK, NULL);
	answer_count(server, HTTP_OK);
	send_all(server, stream);
}

void stream_close(struct server *server)
{
	while (server->nr_streams)
		end(server, server->nr_streams - 1);
}
