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
/* Limits of the memory of all responses being sent, which slow readers hold: others leave room for scrapes. */
#define ANSWER_HELD_SCRAPES (96u << 20)
#define ANSWER_HELD_OTHERS  (48u << 20)

/*
 * Whether one more large response may be made; if not, clients that do not read theirs hold all the
 * memory for it. answer_full() tells the client.
 */
bool answer_has_room(struct server *server, struct evhttp_request *request, size_t limit);
void answer_full(struct server *server, struct evhttp_request *request);
void answer_body(struct server *server, struct evhttp_request *request, const char *type,
		 struct body *body);
bool answer_wants_gzip(struct evhttp_request *request);

#endif
