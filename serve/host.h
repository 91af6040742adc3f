/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a request was addressed to this server, against DNS rebinding. */
#ifndef SUBTICK_SERVE_HOST_H
#define SUBTICK_SERVE_HOST_H

#include <stdbool.h>

/* Whether a name can be one of a host: letters, digits, hyphens, underscores, dots inside. */
bool host_is_name(const char *name);
/*
 * Whether a Host header, or NULL, is an address, localhost or one of @names ("a,b" or NULL), with
 * or without a port. Nobody can make another site's name of these, so no web page of another site
 * can make a browser send one of them to us.
 */
bool host_allowed(const char *names, const char *header);

#endif
