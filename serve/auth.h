/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bearer tokens: who may ask. */
#ifndef SUBTICK_SERVE_AUTH_H
#define SUBTICK_SERVE_AUTH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define AUTH_TOKEN_MAX 512

struct auth {
	bool needed;
	size_t len;
	char token[AUTH_TOKEN_MAX]; /* padded with NULs */
	int fd; /* of the file, for a re-read without the right to open it; -1 for none */
	char *path;
};

/* The file's first line, without blanks around it; of printable ASCII, 16 characters or more. */
int auth_parse(struct auth *auth, const char *text, size_t len, struct err *err);
/*
 * Keeps what was there on failure. @path NULL: nobody needs a token. Without the right to open the
 * file any more, the one that was opened with it is read again; not if it was replaced meanwhile.
 */
int auth_read(struct auth *auth, const char *path, struct err *err);
/* The value of an Authorization header, or NULL. Takes as long for a wrong token as for any other. */
bool auth_allows(const struct auth *auth, const char *header);
void auth_close(struct auth *auth);

#endif
