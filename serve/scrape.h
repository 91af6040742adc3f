/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /metrics. */
#ifndef SUBTICK_SERVE_SCRAPE_H
#define SUBTICK_SERVE_SCRAPE_H

#include "server.h"

void scrape_answer(struct server *server, struct evhttp_request *request);
/* A window has ended: drops the rendered text of the one before. */
void scrape_forget(struct server *server);

#endif
