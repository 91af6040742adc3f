/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Routes requests, and queues responses. */
#include "http.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "address.h"
#include "base/array.h"
#include "log.h"
#include "view/html/assets.h"

#define MAX_HEAD 2048

/* Our own files only, nothing inline, no framing by other sites. */
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
	head = body_new(false, (size_t)len);
	if (!head)
		return;
	body_append(head, text, (size_t)len);
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
		 struct body *body)
{
	answer_send(server, request, HTTP_OK, type, "no-store", body);
}

/* True if there is memory for one more response. If not, answers 503. */
static bool answer_has_room(struct server *server, struct request *request, size_t limit)
{
	/* A client that reads slowly must not block the others. */
	if (conns_held(&server->conns) <= limit || conns_shed(&server->conns, request->conn))
		return true;
	answer_text(server, request, HTTP_SERVUNAVAIL,
		    "out of memory for responses; try again later");
	return false;
}

static const struct web_asset *find_asset(const char *path)
{
	for (const struct web_asset *asset = web_assets; asset->path; asset++)
		if (!strcmp(asset->path, path))
			return asset;
	return NULL;
}

static void asset_answer(struct server *server, struct request *request,
			 const struct web_asset *asset)
{
	uint64_t hash = hash_bytes(HASH_START, asset->data, asset->size);
	struct body *body;
	char etag[24], line[40];

	snprintf(etag, sizeof(etag), "\"%016llx\"", (unsigned long long)hash);
	snprintf(line, sizeof(line), "ETag: %s\r\n", etag);
	request->extra = line;
	if (request->if_none_match && strstr(request->if_none_match, etag)) {
		answer_send(server, request, HTTP_NOTMODIFIED, asset->type, "no-cache", NULL);
		return;
	}
	body = body_wrap(asset->data, asset->size);
	if (body)
		answer_send(server, request, HTTP_OK, asset->type, "no-cache", body);
	body_put(body);
}

static void ready_answer(struct server *server, struct request *request)
{
	if (sampler_ready(&server->sampler))
		answer_text(server, request, HTTP_OK,
			    server->degraded
				    ? "ready; degraded: no names of new containers, see the log"
				    : "ready");
	else
		answer_text(server, request, HTTP_SERVUNAVAIL,
			    "no window has ended in the last three intervals; see the log");
}

static void unauthorized(struct server *server, struct request *request)
{
	request->extra = "WWW-Authenticate: Bearer realm=\"subtick\"\r\n";
	answer_text(server, request, HTTP_UNAUTHORIZED, "a bearer token is required");
}

/*
 * Without a token the Host must be ours. With one it may be any: the page of another site does not
 * have the token.
 */
static bool host_refused(const struct server *server, const struct request *request)
{
	return !server->auth.needed && !host_allowed(server->config.hosts, request->host);
}

/* Paths whose responses may be large: they count against the memory limit. */
static void route_figures(struct server *server, struct request *request)
{
	static const char api[] = "/api/v1/", traces[] = "/api/v1/traces/";
	const char *path = request->path;
	bool scrape = !strcmp(path, "/metrics");

	if (!answer_has_room(server, request, scrape ? ANSWER_HELD_SCRAPES : ANSWER_HELD_OTHERS))
		return;
	if (scrape)
		scrape_answer(server, request);
	else if (!strcmp(path, "/api/v1/stream"))
		stream_answer(server, request);
	else if (!strcmp(path, "/api/v1/history"))
		history_http_history(server, request, request->query);
	else if (!strcmp(path, "/api/v1/report"))
		history_http_report(server, request, request->query);
	else if (!strcmp(path, "/api/v1/host"))
		history_http_host(server, request);
	else if (!strcmp(path, "/api/v1/traces"))
		traces_list(server, request);
	else if (!strncmp(path, traces, sizeof(traces) - 1))
		traces_answer(server, request, path + sizeof(traces) - 1);
	else if (!strncmp(path, api, sizeof(api) - 1))
		api_answer(server, request, path + sizeof(api) - 1);
	else
		answer_text(server, request, HTTP_NOTFOUND,
			    "no such path; the page at / names them");
}

static void route(struct server *server, struct request *request)
{
	const struct web_asset *asset = find_asset(request->path);

	/* No token: the page's files contain no figures, and service managers check health. */
	if (!strcmp(request->path, "/healthz"))
		answer_text(server, request, HTTP_OK, "ok");
	else if (!strcmp(request->path, "/readyz"))
		ready_answer(server, request);
	else if (host_refused(server, request))
		answer_text(server, request, HTTP_FORBIDDEN,
			    "Host not allowed: use the IP address, or start with --host NAME");
	else if (asset)
		asset_answer(server, request, asset);
	else if (!auth_allows(&server->auth, request->authorization))
		unauthorized(server, request);
	else
		route_figures(server, request);
}

static void on_request(void *arg, struct request *request, int code)
{
	if (code == HTTP_BADMETHOD)
		request->extra = "Allow: GET, HEAD\r\n";
	if (code)
		answer_text(arg, request, code,
			    "expected GET or HEAD without a body, at most 8 KiB");
	else
		route(arg, request);
}

static int listen_on(struct server *server, const char *text, struct err *err)
{
	int fd, rc;

	rc = address_listen(text, &fd, err);
	if (rc)
		return rc;
	if (conns_listen(&server->conns, fd))
		return err_set(err, -ENOMEM, "cannot listen on %s", text);
	log_line("listening on %s", text);
	return 0;
}

void http_warn_open(const struct server *server)
{
	struct address address;

	for (size_t i = 0; !server->auth.needed && i < server->config.nr_listen; i++)
		if (!address_parse(server->config.listen[i], &address) &&
		    !address_is_local(&address))
			log_line("warning: other machines can reach %s without a token; set "
				 "--token-file",
				 server->config.listen[i]);
}

int http_open(struct server *server, struct err *err)
{
	int rc = 0;

	_Static_assert(CONFIG_MAX_LISTEN <= CONN_MAX_LISTEN, "a place for each address");
	server->conns.handle = on_request;
	server->conns.arg = server;
	conns_init(&server->conns, server->loop);
	for (size_t i = 0; !rc && i < server->config.nr_listen; i++)
		rc = listen_on(server, server->config.listen[i], err);
	if (!rc)
		http_warn_open(server);
	return rc;
}
