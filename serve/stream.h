/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /api/v1/stream: each window as a server-sent event. */
#ifndef SUBTICK_SERVE_STREAM_H
#define SUBTICK_SERVE_STREAM_H

#include "server.h"

void stream_answer(struct server *server, struct evhttp_request *request, const char *query);
/* Sends new windows to all clients. */
void stream_update(struct server *server);
/* evhttp gives a request to the callback again if it fails: if it is a stream, that ends. */
void stream_fails(struct server *server, const struct evhttp_request *request);
void stream_close(struct server *server);

#endif
