/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the head of each response and queues its body. */
#include "serve/web/http.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "view/html/html.h"

#define MAX_HEAD 2048

/* Security headers: only files of this server, no inline scripts, no framing by other sites. */
static const char security[] = "Content-Security-Policy: " WEB_CSP "\r\n"
			       "X-Content-Type-Options: nosniff\r\n"
			       "Referrer-Policy: no-referrer\r\n"
			       "Cross-Origin-Resource-Policy: same-origin\r\n"
			       "Vary: Accept, Accept-Encoding\r\n";

static const char *reason(int code)
{
#define REASON(name, number, text) \
	case number:               \
		return text;
	switch (code) {
		HTTP_STATUSES(REASON)
	}
#undef REASON
	return "";
}

static void count(struct server *server, int code)
{
	const struct label label = LABEL_NUMBER("code", (unsigned int)code);
	struct series_row *row = store_row(&server->own, F_HTTP_REQUESTS, &label, 1);

	store_sample(&server->own, row, F_HTTP_REQUESTS, 0)->u64++;
}

bool answer_wants_gzip(const struct request *request)
{
	return request_accepts_gzip(request->accept_encoding);
}

void answer_send(struct server *server, struct request *request, int code, const char *type,
		 const char *cache, struct body *body)
{
	char text[MAX_HEAD], date[64], length[48] = "";
	time_t now = time(NULL);
	struct body *head;
	struct tm tm;
	int len;

	strftime(date, sizeof(date), "%a, %d %b %Y %T GMT", gmtime_r(&now, &tm));
	if (body)
		snprintf(length, sizeof(length), "Content-Length: %zu\r\n", body->len);
	len = snprintf(text, sizeof(text),
		       "HTTP/1.1 %d %s\r\nDate: %s\r\n%sContent-Type: %s\r\nCache-Control: %s\r\n"
		       "%s%sConnection: %s\r\n%s\r\n",
		       code, reason(code), date, security, type, cache,
		       body && body->gzip ? "Content-Encoding: gzip\r\n" : "", length,
		       request->conn->keep ? "keep-alive" : "close",
		       request->extra ? request->extra : "");
	head = body_of(false, text, (size_t)len);
	if (!head)
		return;
	conn_queue(request->conn, head);
	body_put(head);
	if (body && !request->head)
		conn_queue(request->conn, body);
	count(server, code);
}

void answer_text(struct server *server, struct request *request, int code, const char *text)
{
	struct body *body = body_new(false, strlen(text) + 1);

	if (!body)
		return;
	body_append(body, text, strlen(text));
	body_append(body, "\n", 1);
	answer_send(server, request, code, "text/plain; charset=utf-8", "no-store", body);
	body_put(body);
}

void answer_body(struct server *server, struct request *request, const char *type,
		 struct body *body, const char *missing)
{
	if (body)
		answer_send(server, request, HTTP_OK, type, "no-store", body);
	else
		answer_text(server, request, HTTP_SERVUNAVAIL, missing);
}

bool answer_has_room(struct server *server, struct request *request, size_t limit)
{
	/* Slow clients are disconnected before requests of other clients are refused. */
	if (conns_held(&server->conns) <= limit || conns_shed(&server->conns, request->conn))
		return true;
	answer_text(server, request, HTTP_SERVUNAVAIL,
		    "out of memory for responses; try again later");
	return false;
}
