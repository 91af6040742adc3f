/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /api/v1/traces: the recordings of `subtick trace` in a directory of the administrator's choice. */
#ifndef SUBTICK_SERVE_TRACES_H
#define SUBTICK_SERVE_TRACES_H

#include "server.h"

/* Opens the directory, if one is set, while we still may. */
int traces_open(struct server *server, struct err *err);
void traces_close(struct server *server);
/* The newest recordings, as JSON. */
void traces_list(struct server *server, struct request *request);
/* One recording. @name: as in the request's path, encoded. */
void traces_answer(struct server *server, struct request *request, const char *name);

#endif
