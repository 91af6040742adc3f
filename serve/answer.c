/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends responses, with the headers that all of them share. */
#include "answer.h"

#include <stdio.h>

#include <event2/buffer.h>
#include <event2/http.h>

#include "accept.h"
#include "view/html/assets.h"

void answer_count(struct server *server, int code)
{
	const struct label label = LABEL_NUMBER("code", (unsigned int)code);
	struct series_row *row = store_row(&server->own, F_HTTP_REQUESTS, &label, 1);

	store_sample(&server->own, row, F_HTTP_REQUESTS, 0)->u64++;
}

bool answer_wants_gzip(struct evhttp_request *request)
{
	return accept_gzip(
		evhttp_find_header(evhttp_request_get_input_headers(request), "Accept-Encoding"));
}

void answer_headers(struct evhttp_request *request)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);

	evhttp_add_header(headers, "Content-Security-Policy", WEB_CSP);
	evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
	evhttp_add_header(headers, "Referrer-Policy", "no-referrer");
	evhttp_add_header(headers, "Cross-Origin-Resource-Policy", "same-origin");
	evhttp_add_header(headers, "Vary", "Accept, Accept-Encoding");
}

void answer_text(struct server *server, struct evhttp_request *request, int code, const char *text)
{
	struct evbuffer *buffer = evbuffer_new();

	answer_headers(request);
	evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type",
			  "text/plain; charset=utf-8");
	evhttp_add_header(evhttp_request_get_output_headers(request), "Cache-Control", "no-store");
	if (buffer)
		evbuffer_add_printf(buffer, "%s\n", text);
	evhttp_send_reply(request, code, NULL, buffer);
	answer_count(server, code);
	if (buffer)
		evbuffer_free(buffer);
}

bool answer_has_room(struct server *server, struct evhttp_request *request, size_t limit)
{
	/* A client that reads slowly must not block the others. */
	return body_total() <= limit ||
	       conns_relieve(&server->conns, evhttp_request_get_connection(request));
}

void answer_full(struct server *server, struct evhttp_request *request)
{
	answer_text(server, request, HTTP_SERVUNAVAIL,
		    "out of memory for responses; try again later");
}

void answer_body(struct server *server, struct evhttp_request *request, const char *type,
		 struct body *body)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
	struct evbuffer *buffer = evbuffer_new();
	char length[24];

	if (!buffer || body_send(body, buffer)) {
		if (buffer)
			evbuffer_free(buffer);
		answer_text(server, request, HTTP_SERVUNAVAIL, "out of memory");
		return;
	}
	answer_headers(request);
	evhttp_add_header(headers, "Content-Type", type);
	evhttp_add_header(headers, "Cache-Control", "no-store");
	if (body->gzip)
		evhttp_add_header(headers, "Content-Encoding", "gzip");
	/* evhttp omits it in a response without a body. */
	if (evhttp_request_get_command(request) == EVHTTP_REQ_HEAD) {
		snprintf(length, sizeof(length), "%zu", body->len);
		evhttp_add_header(headers, "Content-Length", length);
	}
	evhttp_send_reply(request, HTTP_OK, NULL, buffer);
	answer_count(server, HTTP_OK);
	evbuffer_free(buffer);
}
