/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /api/v1: the commands' JSON over HTTP. */
#ifndef SUBTICK_SERVE_API_H
#define SUBTICK_SERVE_API_H

#include "server.h"

void api_answer(struct server *server, struct request *request, const char *name);
/*
 * The collectors in ?collect=NAME,NAME as bits, or all that are open. If one of them is not
 * collected, answers 404 and returns false.
 */
bool api_collectors(struct server *server, struct request *request, const char *query,
		    unsigned int *ret_collectors);
/* Any report as JSON; NULL without memory. */
struct body *api_render(const struct report *report, bool gzip);
/* The JSON of the last window, owned by the cache; NULL before the first window. */
struct body *api_body(struct server *server, size_t index, bool gzip);
void api_forget(struct server *server);
int api_doctor(struct server *server, struct err *err);
void api_close(struct server *server);

#endif
