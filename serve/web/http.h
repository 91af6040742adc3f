/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Routes and responses of the exporter. */
#ifndef SUBTICK_SERVE_HTTP_H
#define SUBTICK_SERVE_HTTP_H

#include "serve/web/server.h"

int http_open(struct server *server, struct err *err);
/* Logs a warning if other machines can connect without a token. */
void http_warn_open(const struct server *server);

/* Limits of conns_held() in bytes. The higher limit reserves memory for scrapes. */
#define ANSWER_HELD_SCRAPES (96u << 20)
#define ANSWER_HELD_OTHERS  (48u << 20)

void answer_text(struct server *server, struct request *request, int code, const char *text);
/*
 * Answers with @body and status 200, or with 503 and the text @missing if @body is NULL. The caller
 * keeps its reference to @body.
 */
void answer_body(struct server *server, struct request *request, const char *type,
		 struct body *body, const char *missing);
/*
 * Queues headers and @body. @body is NULL for 304 responses and streams, which have no
 * Content-Length. @cache is the value of Cache-Control.
 */
void answer_send(struct server *server, struct request *request, int code, const char *type,
		 const char *cache, struct body *body);
/*
 * Answers with 503 and returns false if conns_held() exceeds @limit and no slow client can be
 * disconnected.
 */
bool answer_has_room(struct server *server, struct request *request, size_t limit);

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
/* JSON of the last window, owned by the collector. NULL without a window, or if out of memory. */
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

/* Renders the response of /api/v1/host before the seccomp filter is installed. */
int history_http_open(struct server *server);
/* Adds the windows of a round to the histories in memory and on disk. */
void history_http_update(struct server *server);
void history_http_close(struct server *server);

/*
 * Answers /api/v1/history with gzip of JSON lines: all windows in memory, oldest first, or with
 * ?at=SECONDS&for=SECONDS the windows of the requested time.
 */
void history_http_history(struct server *server, struct request *request);
/*
 * Answers /api/v1/report with an HTML file: the last windows, or with ?at=SECONDS the windows that
 * ended nearest to that time.
 */
void history_http_report(struct server *server, struct request *request);
/*
 * Parses the query parameter @name in seconds, such as 1.5. Sets @ret_ns to 0 if the parameter is
 * missing. Returns false if the parameter is invalid.
 */
bool history_http_seconds(const struct request *request, const char *name, uint64_t *ret_ns);
/* Answers /api/v1/host: name, kernel release and boot time of the machine. */
void history_http_host(struct server *server, struct request *request);

#endif
