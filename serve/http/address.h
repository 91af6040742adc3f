/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Addresses to listen on, and names in Host headers. */
#ifndef SUBTICK_SERVE_ADDRESS_H
#define SUBTICK_SERVE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/err.h"

/*
 * Sizes of the socket buffers of each client in bytes. The kernel doubles the sizes for its own
 * structures. With half of ADDRESS_SEND_BUFFER, a response of 200 KB over loopback took 130 ms,
 * because it waited for delayed acknowledgements.
 */
#define ADDRESS_SEND_BUFFER    (64 * 1024)
#define ADDRESS_SEND_MEMORY    (2 * ADDRESS_SEND_BUFFER)
#define ADDRESS_RECEIVE_BUFFER (16 * 1024)

#define ADDRESS_MAX_LISTEN 16

struct address {
	struct sockaddr_storage sockaddr;
	socklen_t len;
	/* path of a unix socket, which points into the parsed text; NULL for an IP address */
	const char *path;
};

/* Parses "127.0.0.1:80", "[::1]:80" or "unix:/run/x". Host names are not resolved. */
int address_parse(const char *text, struct address *ret_address);
/* True if only processes of this machine can connect. */
bool address_is_local(const struct address *address);
/* Opens a listening socket. Replaces an existing unix socket only if no process listens on it. */
int address_listen(const char *text, int *ret_fd, struct err *err);

/* True if @name has only letters, digits, hyphens, underscores, and dots between them. */
bool host_is_name(const char *name);
/*
 * True if the Host header is missing (NULL), or is an address, localhost or one of @names ("a,b" or
 * NULL), with or without a port. To prevent DNS rebinding by web pages of other sites, a Host
 * header with a name that is neither localhost nor in @names is refused.
 */
bool host_allowed(const char *names, const char *header);

#endif
