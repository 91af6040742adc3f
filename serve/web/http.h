/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Routes and responses of the exporter. */
#ifndef SUBTICK_SERVE_HTTP_H
#define SUBTICK_SERVE_HTTP_H

#include "serve/web/server.h"

int http_open(struct server *server, struct err *err);
/* Logs a warning if other machines can reach us without a token. */
void http_warn_open(const struct server *server);

/*
 * Limits of the memory of all responses being sent, which slow readers hold, with the socket buffers
 * of the kernel. Other responses leave room for scrapes.
 */
#define ANSWER_HELD_SCRAPES (96u << 20)
#define ANSWER_HELD_OTHERS  (48u << 20)

/* Answers with a short text. */
void answer_text(struct server *server, struct request *request, int code, const char *text);
/* Takes a reference to @body. */
void answer_body(struct server *server, struct request *request, const char *type,
		 struct body *body);
/*
 * Queues headers and @body. NULL: a response without Content-Length, such as 304 or a stream. @cache
 * is the value of Cache-Control.
 */
void answer_send(struct server *server, struct request *request, int code, const char *type,
		 const char *cache, struct body *body);
/* True if there is memory for one more response. If not, answers 503. */
bool answer_has_room(struct server *server, struct request *request, size_t limit);
bool answer_wants_gzip(const struct request *request);

#define API_PATH    "/api/v1/"
#define TRACES_PATH API_PATH "traces/"

/* /api/v1/NAME: the last window of a collector, or the report of doctor. */
void api_answer(struct server *server, struct request *request);
/*
 * The collectors in ?collect=NAME,NAME as bits, or all that are open. If one of them is not
 * collected, answers 404 and returns false.
 */
bool api_collectors(struct server *server, struct request *request, unsigned int *ret_collectors);
/* Any report as JSON; NULL without memory. */
struct body *api_render(const struct report *report, bool gzip);
/* The JSON of the last window, owned by the cache; NULL before the first window. */
struct body *api_body(struct server *server, size_t index, bool gzip);
void api_forget(struct server *server);
int api_doctor(struct server *server, struct err *err);
void api_close(struct server *server);

void scrape_answer(struct server *server, struct request *request);
/* Searches the descriptors of this process for BPF programs and maps. */
void self_bpf_find(struct own_bpf *ret_own);
/* Sets the metrics about the exporter itself. */
void self_metrics_collect(struct server *server);
/* A window has ended: drops the rendered text of the one before. */
void scrape_forget(struct server *server);

void stream_answer(struct server *server, struct request *request);
/* Sends new windows to all clients. */
void stream_update(struct server *server);
/* Ends all streams. */
void stream_close(struct server *server);

/* Opens the directory, if one is set, while we still may. */
int traces_open(struct server *server, struct err *err);
void traces_close(struct server *server);
/* The newest recordings, as JSON. */
void traces_list(struct server *server, struct request *request);
/* One recording. */
void traces_answer(struct server *server, struct request *request);

/* Describes the machine; call it before the seccomp filter is installed. */
int history_http_open(struct server *server);
/* Keeps the windows of a round; call it after each round. */
void history_http_update(struct server *server);
void history_http_close(struct server *server);

/*
 * All kept windows, oldest first, as one gzip file of JSON lines. With ?at=SECONDS&for=SECONDS windows of
 * that time, from the files of --history if there are any.
 */
void history_http_history(struct server *server, struct request *request);
/* The last windows as an HTML report; with ?at=SECONDS those that ended nearest to that time. */
void history_http_report(struct server *server, struct request *request);
/* A parameter in seconds, with a fraction. 0 without it. False: invalid. */
bool history_http_seconds(const struct request *request, const char *name, uint64_t *ret_ns);
/* Name, kernel and boot time of the machine. */
void history_http_host(struct server *server, struct request *request);

#endif
