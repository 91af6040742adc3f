/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /api/v1/stream: each window as a server-sent event. */
#ifndef SUBTICK_SERVE_STREAM_H
#define SUBTICK_SERVE_STREAM_H

#include "server.h"

void stream_answer(struct server *server, struct request *request);
/* Sends new windows to all clients. */
void stream_update(struct server *server);
/* Ends all streams. */
void stream_close(struct server *server);

#endif
