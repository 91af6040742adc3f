/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bearer tokens. */
#ifndef SUBTICK_SERVE_AUTH_H
#define SUBTICK_SERVE_AUTH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define AUTH_TOKEN_MAX 512

struct auth {
	bool needed;
	unsigned int changes; /* how often what a client must know has changed */
	size_t len;
	char token[AUTH_TOKEN_MAX]; /* padded with NULs */
	int fd; /* of the file, to read it again without the right to open it; -1: none */
	char *path;
};

/* Parses the first line, without blanks around it: printable ASCII, 16 to 512 characters. */
int auth_parse(struct auth *auth, const char *text, size_t len, struct err *err);
/*
 * On failure the old token stays. @path NULL: no token is required; this fails if one was required
 * before, so that a lost settings file does not remove authentication. If we may no longer open the
 * file, the descriptor that is still open is read again; this fails if the file was replaced.
 */
int auth_read(struct auth *auth, const char *path, struct err *err);
/* @header is the value of the Authorization header, or NULL. The comparison is in constant time. */
bool auth_allows(const struct auth *auth, const char *header);
void auth_close(struct auth *auth);

#endif
