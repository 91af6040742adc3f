/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the headers of a request ask for. */
#ifndef SUBTICK_SERVE_ACCEPT_H
#define SUBTICK_SERVE_ACCEPT_H

#include <stdbool.h>

/* Whether an Accept-Encoding header, or NULL, allows gzip. */
bool accept_gzip(const char *header);
/* Whether a query such as "collect=load,runq" has @key; its value is copied, percent signs as they are. */
bool accept_query(const char *query, const char *key, char *value, unsigned int size);

#endif
