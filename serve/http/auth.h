/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Authentication by a bearer token. */
#ifndef SUBTICK_SERVE_AUTH_H
#define SUBTICK_SERVE_AUTH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define AUTH_TOKEN_MAX 512

struct auth {
	bool needed;
	unsigned int changes; /* number of times that the token has changed */
	size_t len;
	char token[AUTH_TOKEN_MAX]; /* current token, padded with NULs */
	/* descriptor of the token file, or -1; used if the file may not be opened again */
	int fd;
	char *path;
};

/* Parses a token of 16 to 512 printable ASCII characters in the first line of @text. */
int auth_parse(struct auth *auth, const char *text, size_t len, struct err *err);
/*
 * Reads the token file. On failure the old token stays valid. If @path is NULL, no authentication
 * is required. If @path is NULL but a token was required before, auth_read() fails, because a lost
 * settings file must not disable authentication. If the process is no longer permitted to open the
 * token file, auth_read() reads the token from auth->fd, or fails if the token file was replaced.
 */
int auth_read(struct auth *auth, const char *path, struct err *err);
/* True if @header (may be NULL) has the valid token. Compares in constant time. */
bool auth_allows(const struct auth *auth, const char *header);
void auth_close(struct auth *auth);

#endif
