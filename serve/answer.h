/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends and counts responses. */
#ifndef SUBTICK_SERVE_ANSWER_H
#define SUBTICK_SERVE_ANSWER_H

#include "server.h"

/* The security headers: only our own files, nothing inline, no framing by other sites. */
void answer_headers(struct evhttp_request *request);
void answer_count(struct server *server, int code);
/* Sends a short text. */
void answer_text(struct server *server, struct evhttp_request *request, int code, const char *text);
void answer_body(struct server *server, struct evhttp_request *request, const char *type,
		 struct body *body);
bool answer_wants_gzip(struct evhttp_request *request);

#endif
