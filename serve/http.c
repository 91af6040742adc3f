/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Listens, and routes requests to the functions that answer them. */
#include "http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>

#include "address.h"
#include "answer.h"
#include "api.h"
#include "base/hash.h"
#include "host.h"
#include "log.h"
#include "history_http.h"
#include "scrape.h"
#include "stream.h"
#include "traces.h"
#include "view/html/assets.h"

#define MAX_HEADERS 8192
#define MAX_BODY    0
/* Longer than the limits of conn.c, so that those apply. */
#define EVHTTP_SECONDS 300

static const struct web_asset *find_asset(const char *path)
{
	for (const struct web_asset *asset = web_assets; asset->path; asset++)
		if (!strcmp(asset->path, path))
			return asset;
	return NULL;
}

static void asset_answer(struct server *server, struct evhttp_request *request,
			 const struct web_asset *asset)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
	struct evbuffer *buffer = evbuffer_new();
	uint64_t hash = hash_bytes(HASH_START, asset->data, asset->size);
	const char *known;
	char etag[24];
	int code = HTTP_OK;

	snprintf(etag, sizeof(etag), "\"%016llx\"", (unsigned long long)hash);
	known = evhttp_find_header(evhttp_request_get_input_headers(request), "If-None-Match");
	answer_headers(request);
	evhttp_add_header(headers, "Content-Type", asset->type);
	evhttp_add_header(headers, "Cache-Control", "no-cache");
	evhttp_add_header(headers, "ETag", etag);
	if (known && strstr(known, etag))
		code = HTTP_NOTMODIFIED;
	else if (buffer)
		evbuffer_add_reference(buffer, asset->data, asset->size, NULL, NULL);
	evhttp_send_reply(request, code, NULL, buffer);
	answer_count(server, code);
	if (buffer)
		evbuffer_free(buffer);
}

static void ready_answer(struct server *server, struct evhttp_request *request)
{
	if (sampler_ready(&server->sampler))
		answer_text(server, request, HTTP_OK, "ready");
	else
		answer_text(server, request, HTTP_SERVUNAVAIL,
			    "no window has ended in the last three intervals; see the log");
}

static void unauthorized(struct server *server, struct evhttp_request *request)
{
	evhttp_add_header(evhttp_request_get_output_headers(request), "WWW-Authenticate",
			  "Bearer realm=\"subtick\"");
	answer_text(server, request, 401, "a bearer token is required");
}

/*
 * Without a token the Host must be ours. With one it may be any: the page of another site does not
 * have the token.
 */
static bool host_refused(const struct server *server, struct evhttp_request *request)
{
	const char *host =
		evhttp_find_header(evhttp_request_get_input_headers(request), "Host");

	return !server->auth.needed && !host_allowed(server->config.hosts, host);
}

static void route(struct server *server, struct evhttp_request *request, const char *path,
		  const char *query)
{
	static const char api[] = "/api/v1/", traces[] = "/api/v1/traces/";
	const struct web_asset *asset = find_asset(path);
	const char *token = evhttp_find_header(evhttp_request_get_input_headers(request),
					       "Authorization");

	/* No token: the page's files contain no figures, and service managers check health. */
	if (!strcmp(path, "/healthz"))
		answer_text(server, request, HTTP_OK, "ok");
	else if (!strcmp(path, "/readyz"))
		ready_answer(server, request);
	else if (host_refused(server, request))
		answer_text(server, request, 403,
			    "this name is not one of this server; use its address, or start it "
			    "with --host NAME");
	else if (asset)
		asset_answer(server, request, asset);
	else if (!auth_allows(&server->auth, token))
		unauthorized(server, request);
	else if (!strcmp(path, "/metrics"))
		scrape_answer(server, request);
	else if (!strcmp(path, "/api/v1/stream"))
		stream_answer(server, request, query);
	else if (!strcmp(path, "/api/v1/history"))
		history_http_history(server, request, query);
	else if (!strcmp(path, "/api/v1/report"))
		history_http_report(server, request, query);
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

static void on_request(struct evhttp_request *request, void *arg)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	const char *path = uri ? evhttp_uri_get_path(uri) : NULL;
	struct server *server = arg;

	stream_fails(server, request);
	conns_asked(&server->conns, evhttp_request_get_connection(request), false);
	if (!path)
		answer_text(server, request, HTTP_BADREQUEST, "bad request");
	else
		route(server, request, *path ? path : "/", evhttp_uri_get_query(uri));
}

static int listen_on(struct server *server, const char *text, struct err *err)
{
	struct evhttp_bound_socket *bound;
	int fd, rc;

	rc = address_listen(text, &fd, err);
	if (rc)
		return rc;
	bound = evhttp_accept_socket_with_handle(server->http, fd);
	if (!bound) {
		close(fd);
		return err_set(err, -ENOMEM, "cannot listen on %s", text);
	}
	evconnlistener_set_error_cb(evhttp_bound_socket_get_listener(bound),
				    conns_accept_failed);
	log_line("listening on %s", text);
	return 0;
}

void http_warn_open(const struct server *server)
{
	struct address address;

	for (size_t i = 0; !server->auth.needed && i < server->config.nr_listen; i++)
		if (!address_parse(server->config.listen[i], &address) && !address_is_local(&address))
			log_line("warning: other machines can reach %s without a token; set "
				 "--token-file",
				 server->config.listen[i]);
}

int http_open(struct server *server, struct err *err)
{
	int rc = 0;

	server->http = evhttp_new(server->base);
	if (!server->http || conns_init(&server->conns, server->base))
		return err_set(err, -ENOMEM, "out of memory");
	conns_watch(&server->conns, server->http);
	evhttp_set_max_headers_size(server->http, MAX_HEADERS);
	evhttp_set_max_body_size(server->http, MAX_BODY);
	evhttp_set_allowed_methods(server->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
	evhttp_set_timeout(server->http, EVHTTP_SECONDS);
	evhttp_set_gencb(server->http, on_request, server);
	for (size_t i = 0; !rc && i < server->config.nr_listen; i++)
		rc = listen_on(server, server->config.listen[i], err);
	if (!rc)
		http_warn_open(server);
	return rc;
}

void http_close(struct server *server)
{
	if (server->http)
		evhttp_free(server->http);
	server->http = NULL;
	conns_free(&server->conns);
}
