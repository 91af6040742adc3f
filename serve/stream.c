/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /api/v1/stream: sends each window as a server-sent event to all clients. */
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/http.h>

#include "accept.h"
#include "answer.h"
#include "api.h"
#include "base/clock.h"

/* A client with this many unsent bytes is disconnected: it will not catch up. */
#define MAX_UNSENT (8 * 1024 * 1024)
/* At the limit of streams, a stream without progress for this long is closed for a new one. */
#define STALLED_NS (1 * NSEC_PER_SEC)

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
		struct evhttp_request *request = server->streams[i].request;

		if (server->streams[i].connection != connection)
			continue;
		forget(server, i);
		/*
		 * If the client has closed it, evhttp has taken the request off the connection and
		 * leaves it to us; ending the response then frees it. Else it frees it itself.
		 */
		if (!evhttp_request_get_connection(request))
			evhttp_send_reply_end(request);
		return;
	}
}

void stream_fails(struct server *server, const struct evhttp_request *request)
{
	for (size_t i = 0; i < server->nr_streams; i++) {
		if (server->streams[i].request != request)
			continue;
		evhttp_connection_set_closecb(server->streams[i].connection, NULL, NULL);
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

/* The client gets nothing more, not even what is on its way. */
static void cut(struct server *server, size_t i)
{
	conns_cut(&server->conns, server->streams[i].connection, CONN_CUT_STALLED);
	/* Nothing is sent any more, but evhttp then knows that it may free the request. */
	end(server, i);
}

/* Notes whether the client has received anything since the last window was sent. */
static void look(struct stream *stream, uint64_t now_ns)
{
	size_t backlog = conns_backlog(stream->connection);

	if (!backlog || backlog < stream->backlog)
		stream->moved_ns = now_ns;
	stream->backlog = backlog;
}

/* Ends the stream whose client has received nothing for longest; false if all of them receive. */
static bool make_room(struct server *server)
{
	uint64_t now_ns = clock_mono_ns();
	size_t worst = 0;

	for (size_t i = 0; i < server->nr_streams; i++) {
		look(&server->streams[i], now_ns);
		if (server->streams[i].moved_ns < server->streams[worst].moved_ns)
			worst = i;
	}
	if (now_ns - server->streams[worst].moved_ns < STALLED_NS)
		return false;
	cut(server, worst);
	return true;
}

/* The whole window as one event: the JSON's only line break is at its end. */
static void send_event(struct server *server, struct stream *stream, size_t index)
{
	const char *name = server->collectors[index].ops->name;
	struct evbuffer *buffer;
	struct body *body;

	if (stream->only && !config_list_has(stream->only, name))
		return;
	body = api_body(server, index, false);
	if (!body)
		return;
	buffer = evbuffer_new();
	if (!buffer)
		return;
	evbuffer_add_printf(buffer, "event: %s\ndata: ", name);
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
	uint64_t now_ns = clock_mono_ns();

	for (size_t i = server->nr_streams; i-- > 0;) {
		struct stream *stream = &server->streams[i];

		look(stream, now_ns);
		if (stream->backlog > MAX_UNSENT ||
		    now_ns - stream->moved_ns > server->conns.timeout_ns) {
			cut(server, i);
			continue;
		}
		send_all(server, stream);
		stream->backlog = conns_backlog(stream->connection);
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
	if (server->nr_streams == SERVER_MAX_STREAMS && !make_room(server)) {
		answer_text(server, request, HTTP_SERVUNAVAIL,
			    "too many streams are open; try again later");
		return;
	}
	stream = &server->streams[server->nr_streams++];
	*stream = (struct stream){
		.request = request, .connection = connection, .moved_ns = clock_mono_ns()};
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
	stream->backlog = conns_backlog(connection);
}

void stream_close(struct server *server)
{
	while (server->nr_streams)
		end(server, server->nr_streams - 1);
}
