/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /api/v1/history, /api/v1/report and /api/v1/host: what the page needs beside the last window. */
#ifndef SUBTICK_SERVE_PAST_H
#define SUBTICK_SERVE_PAST_H

#include "server.h"

/* Makes what is known of the host only now, before the filter forbids to ask. */
int past_open(struct server *server);
/* After each round of windows. */
void past_update(struct server *server);
void past_close(struct server *server);

/* All kept windows, oldest first, as one gzip file of JSON lines; a gzip member for each. */
void past_history(struct server *server, struct evhttp_request *request, const char *query);
/* The last windows as an HTML report; with ?at=SECONDS those that ended nearest to that time. */
void past_report(struct server *server, struct evhttp_request *request, const char *query);
/* Name, kernel and boot time of the machine. */
void past_host(struct server *server, struct evhttp_request *request);

#endif
