/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a request asks for: compression, query keys. */
#ifndef SUBTICK_SERVE_ACCEPT_H
#define SUBTICK_SERVE_ACCEPT_H

#include <stdbool.h>

/* Whether an Accept-Encoding header, or NULL, allows gzip. */
bool accept_gzip(const char *header);
/* Whether a query such as "collect=load,runq" has @key; copies its value without decoding %XX. */
bool accept_query(const char *query, const char *key, char *value, unsigned int size);

#endif
