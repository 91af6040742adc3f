/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Routes and responses of the exporter. */
#ifndef SUBTICK_SERVE_HTTP_H
#define SUBTICK_SERVE_HTTP_H

#include "serve/web/server.h"

int http_open(struct server *server, struct err *err);
/* Logs a warning if other machines can connect without a token. */
void http_warn_open(const struct server *server);

/*
 * Maximum values of conns_held() in bytes, for answering scrapes and for answering other requests.
 * ANSWER_HELD_OTHERS is lower than ANSWER_HELD_SCRAPES, so that memory is left for scrapes.
 */
#define ANSWER_HELD_SCRAPES (96u << 20)
#define ANSWER_HELD_OTHERS  (48u << 20)

void answer_text(struct server *server, struct request *request, int code, const char *text);
/* Answers with @body and status 200, or with 503 and @missing if @body is NULL. */
void answer_body(struct server *server, struct request *request, const char *type,
		 struct body *body, const char *missing);
/*
 * Queues headers and @body. If @body is NULL, the response has no Content-Length. 304 responses and
 * streams have no @body. @cache is the value of Cache-Control.
 */
void answer_send(struct server *server, struct request *request, int code, const char *type,
		 const char *cache, struct body *body);
/* True if conns_held() is within @limit, or a slow client was cut; else answers 503. */
bool answer_has_room(struct server *server, struct request *request, size_t limit);
bool answer_wants_gzip(const struct request *request);

#define API_PATH    "/api/v1/"
#define TRACES_PATH API_PATH "traces/"

/* Answers /api/v1/NAME: the last window of a collector, or the report of doctor. */
void api_answer(struct server *server, struct request *request);
/*
 * Parses ?collect=NAME,NAME into a bit set of collectors. Without the parameter collect, the set
 * contains all open collectors. Answers 404 and returns false if a named collector is not open.
 */
bool api_collectors(struct server *server, struct request *request, unsigned int *ret_collectors);
/* Renders a report as JSON. Returns NULL if out of memory. */
struct body *api_render(const struct report *report, bool gzip);
/* JSON of the last window, owned by the collector. NULL: no window, or out of memory. */
struct body *api_body(struct server *server, size_t index, bool gzip);
int api_doctor(struct server *server, struct err *err);
void api_close(struct server *server);

void scrape_answer(struct server *server, struct request *request);
/* Finds the BPF programs and maps among the descriptors of this process. */
void self_bpf_find(struct own_bpf *ret_own);
void self_metrics_collect(struct server *server);
/* Frees the cached response of /metrics after a round of windows. */
void scrape_forget(struct server *server);

void stream_answer(struct server *server, struct request *request);
void stream_update(struct server *server);
void stream_close(struct server *server);

/* Opens the directory of --traces before privileges are dropped. */
int traces_open(struct server *server, struct err *err);
/* /api/v1/traces: list of the newest trace recordings as JSON. */
void traces_list(struct server *server, struct request *request);
/* Answers /api/v1/traces/NAME.html: one trace recording. */
void traces_answer(struct server *server, struct request *request);

/* Renders /api/v1/host, before the seccomp filter is installed. */
int history_http_open(struct server *server);
/* Adds the windows of a round to the histories in memory and on disk. */
void history_http_update(struct server *server);
void history_http_close(struct server *server);

/*
 * Answers /api/v1/history: all windows in memory, oldest first, as gzip of JSON lines. With
 * ?at=SECONDS&for=SECONDS, sends the windows of the requested time: from history files if --history
 * is set, else from memory.
 */
void history_http_history(struct server *server, struct request *request);
/* /api/v1/report: the last windows, or those nearest to ?at=SECONDS, as HTML. */
void history_http_report(struct server *server, struct request *request);
/* Parses seconds such as 1.5. Sets 0 if the parameter is missing. False: invalid. */
bool history_http_seconds(const struct request *request, const char *name, uint64_t *ret_ns);
/* Answers /api/v1/host: name, kernel release and boot time of the machine. */
void history_http_host(struct server *server, struct request *request);

#endif
