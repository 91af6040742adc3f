/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The HTTP server: listeners and routes. */
#ifndef SUBTICK_SERVE_HTTP_H
#define SUBTICK_SERVE_HTTP_H

#include "server.h"

int http_open(struct server *server, struct err *err);
/* Logs a warning if other machines can reach us without a token. */
void http_warn_open(const struct server *server);

#endif
