/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Everything that one running exporter holds. */
#ifndef SUBTICK_SERVE_SERVER_H
#define SUBTICK_SERVE_SERVER_H

#include <stdint.h>
#include <sys/queue.h>

#include "auth.h"
#include "body.h"
#include "collector.h"
#include "config.h"
#include "conn.h"
#include "notify.h"
#include "sampler.h"
#include "store.h"
#include "sys/bpf_own.h"
#include "view/prom.h"

#define SERVER_MAX_COLLECTORS 8
#define SERVER_MAX_CODES      16
#define SERVER_MAX_STREAMS    64

struct event;
struct event_base;
struct evhttp;
struct evhttp_connection;
struct evhttp_request;

/* One client of /api/v1/stream. */
struct stream {
	struct evhttp_request *request; /* gone before the connection tells of its end */
	struct evhttp_connection *connection;
	char *only; /* names of collectors, or NULL for all */
};

/* An answer that holds until the next window. */
struct cached {
	struct body *body;
	uint64_t generation;
	size_t room; /* of the last one: what to expect of the next */
};

struct server {
	struct config config;
	struct auth auth;
	struct store store;
	struct collector collectors[SERVER_MAX_COLLECTORS];
	struct sampler sampler;
	struct notify notify;
	struct sys_bpf_own bpf;
	int statm_fd; /* /proc/self/statm, which closes to us once we are someone else */
	uint64_t start_unix_ns;

	struct event_base *base;
	struct evhttp *http;
	struct conns conns;
	struct event *signals[3], *updated, *watchdog;
	struct stream streams[SERVER_MAX_STREAMS];
	size_t nr_streams;

	struct series copy[FAMILY_NR]; /* of the store, kept for the room in it */
	struct store own;	       /* what the event loop itself counts */
	struct cached metrics[2][2];   /* by prom_format and gzip */
	struct cached json[SERVER_MAX_COLLECTORS][2];
	struct body *doctor[2];

	/* How to read the settings again; set by the command. */
	int (*reload)(void *arg, struct config *ret_config, struct err *err);
	void *reload_arg;
	int (*doctor_report)(struct report **ret_report, struct err *err);
};

/* Runs until SIGTERM or SIGINT; owns @config from now on. */
int server_run(struct server *server, struct err *err);

/* To stderr, one line. */
void server_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* http.c */
int http_open(struct server *server, struct err *err);
void http_close(struct server *server);
/* Says so if somebody from outside can ask without a token. */
void http_warn_open(const struct server *server);
void http_count(struct server *server, int code);
/* Sends a short text. */
void http_text(struct server *server, struct evhttp_request *request, int code, const char *text);
void http_body(struct server *server, struct evhttp_request *request, const char *type,
	       struct body *body);
bool http_wants_gzip(struct evhttp_request *request);

/* scrape.c */
void scrape_answer(struct server *server, struct evhttp_request *request);
/* A window has ended: answers of the one before are of no more use. */
void scrape_forget(struct server *server);
/* self.c */
void self_collect(struct server *server);

/* api.c */
void api_answer(struct server *server, struct evhttp_request *request, const char *name);
/* The JSON of the last window, the cache's own; NULL before the first. */
struct body *api_body(struct server *server, size_t index, bool gzip);
void api_forget(struct server *server);
int api_doctor(struct server *server, struct err *err);
void api_close(struct server *server);

/* stream.c */
void stream_answer(struct server *server, struct evhttp_request *request, const char *query);
/* New windows: sends them to all. */
void stream_update(struct server *server);
void stream_close(struct server *server);

#endif
