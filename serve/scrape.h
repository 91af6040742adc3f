/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /metrics. */
#ifndef SUBTICK_SERVE_SCRAPE_H
#define SUBTICK_SERVE_SCRAPE_H

#include "server.h"

void scrape_answer(struct server *server, struct evhttp_request *request);
/* A window has ended: answers of the one before are of no more use. */
void scrape_forget(struct server *server);

#endif
