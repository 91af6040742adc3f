/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /metrics. */
#ifndef SUBTICK_SERVE_SCRAPE_H
#define SUBTICK_SERVE_SCRAPE_H

#include "server.h"

void scrape_answer(struct server *server, struct request *request);
/* Sets the metrics about the exporter itself. */
void self_metrics_collect(struct server *server);
/* A window has ended: drops the rendered text of the one before. */
void scrape_forget(struct server *server);

#endif
