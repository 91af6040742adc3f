/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Maps request paths to functions that answer the requests. */
#include "serve/web/http.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "serve/http/address.h"
#include "base/array.h"
#include "serve/log.h"
#include "view/html/html.h"

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
	/* Only the collector noise is optional. */
	bool no_noise = server->collectors.list[CONFIG_COLLECT_noise].refused.code;

	if (sampler_ready(&server->sampler))
		answer_text(server, request, HTTP_OK,
			    server->degraded
				    ? "ready; degraded: no names of new containers, see the log"
			    : no_noise ? "ready; degraded: noise is not collected, see the log"
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
 * Without a token the Host header must name this server, which prevents DNS rebinding. With a token
 * any Host header is accepted, because a page of another site does not have the token.
 */
static bool host_refused(const struct server *server, const struct request *request)
{
	return !server->auth.needed && !host_allowed(server->config.hosts, request->host);
}

/* Paths whose responses may be large. A path that ends with a slash is a prefix. */
static const struct {
	const char *path;
	void (*answer)(struct server *server, struct request *request);
} routes[] = {
	{"/metrics", scrape_answer},
	{API_PATH "stream", stream_answer},
	{API_PATH "history", history_http_history},
	{API_PATH "report", history_http_report},
	{API_PATH "host", history_http_host},
	{API_PATH "traces", traces_list},
	{TRACES_PATH, traces_answer},
	{API_PATH, api_answer},
};

static bool path_matches(const char *path, const char *route)
{
	size_t len = strlen(route);

	return route[len - 1] == '/' ? !strncmp(path, route, len) : !strcmp(path, route);
}

/* Responses with measured figures count against the memory limit. */
static void route_figures(struct server *server, struct request *request)
{
	bool scrape = !strcmp(request->path, routes[0].path);
	size_t i = 0;

	if (!answer_has_room(server, request, scrape ? ANSWER_HELD_SCRAPES : ANSWER_HELD_OTHERS))
		return;
	while (i < ARRAY_SIZE(routes) && !path_matches(request->path, routes[i].path))
		i++;
	if (i < ARRAY_SIZE(routes))
		routes[i].answer(server, request);
	else
		answer_text(server, request, HTTP_NOTFOUND,
			    "not found; the page at / lists the paths");
}

static void route(struct server *server, struct request *request)
{
	const struct web_asset *asset = find_asset(request->path);

	/* Health checks and the files of the live page need no token. */
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
	server->conns.handle = on_request;
	server->conns.arg = server;
	conns_init(&server->conns, server->loop);
	for (size_t i = 0; i < server->config.nr_listen; i++) {
		const char *text = server->config.listen[i];
		int fd;

		if (address_listen(text, &fd, err))
			return err->code;
		if (conns_listen(&server->conns, fd))
			return err_set(err, -ENOMEM, "cannot listen on %s", text);
		log_line("listening on %s", text);
	}
	http_warn_open(server);
	return 0;
}
