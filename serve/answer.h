/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Queues and counts responses. */
#ifndef SUBTICK_SERVE_ANSWER_H
#define SUBTICK_SERVE_ANSWER_H

#include "server.h"

/*
 * Limits of the memory of all responses being sent, which slow readers hold, with the socket buffers
 * of the kernel. Other responses leave room for scrapes.
 */
#define ANSWER_HELD_SCRAPES (96u << 20)
#define ANSWER_HELD_OTHERS  (48u << 20)

/* Answers with a short text. */
void answer_text(struct server *server, struct request *request, int code, const char *text);
/* Takes a reference to @body. */
void answer_body(struct server *server, struct request *request, const char *type,
		 struct body *body);
/*
 * Queues headers and @body. NULL: a response without Content-Length, such as 304 or a stream. @cache
 * is the value of Cache-Control.
 */
void answer_send(struct server *server, struct request *request, int code, const char *type,
		 const char *cache, struct body *body);
/* True if there is memory for one more response. If not, answers 503. */
bool answer_has_room(struct server *server, struct request *request, size_t limit);
bool answer_wants_gzip(const struct request *request);

#endif
