/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where to listen, as people write it. */
#ifndef SUBTICK_SERVE_ADDRESS_H
#define SUBTICK_SERVE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/err.h"

struct address {
	struct sockaddr_storage sockaddr;
	socklen_t len;
	const char *path; /* unix only: inside the text that was parsed */
};

/* "127.0.0.1:80", "[::1]:80", "unix:/run/x". Numbers only: no name is looked up. */
int address_parse(const char *text, struct address *ret_address);
/* Whether only this machine can reach it. */
bool address_is_local(const struct address *address);
/* A listening socket; replaces a dead unix socket of that name, never a living one. */
int address_listen(const char *text, int *ret_fd, struct err *err);

#endif
