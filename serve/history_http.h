/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /api/v1/history, /api/v1/report and /api/v1/host: earlier windows and the machine, for the page. */
#ifndef SUBTICK_SERVE_HISTORY_HTTP_H
#define SUBTICK_SERVE_HISTORY_HTTP_H

#include "server.h"

/* Describes the machine; call it before the seccomp filter is installed. */
int history_http_open(struct server *server);
/* Keeps the windows of a round; call it after each round. */
void history_http_update(struct server *server);
void history_http_close(struct server *server);

/* All kept windows, oldest first, as one gzip file of JSON lines; a gzip member for each. */
void history_http_history(struct server *server, struct request *request, const char *query);
/* The last windows as an HTML report; with ?at=SECONDS those that ended nearest to that time. */
void history_http_report(struct server *server, struct request *request, const char *query);
/* Name, kernel and boot time of the machine. */
void history_http_host(struct server *server, struct request *request);

#endif
