/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An error: errno, one sentence of context, and the fix if there is one. */
#ifndef SUBTICK_BASE_ERR_H
#define SUBTICK_BASE_ERR_H

#include <stdbool.h>

struct err {
	int code;	  /* -errno, or 0 for no error */
	bool unsupported; /* this machine does not support the request; the exit code is 77 */
	char what[256];	  /* one sentence, no trailing newline or full stop */
	char fix[192];	  /* fix for the user, often a command, or "" */
};

/*
 * All functions return the error code, so that callers can write return err_set(err, -EIO, "cannot
 * read %s", path). @err may be NULL if the caller needs only the code.
 */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int err_unsupported(struct err *err, int code, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Inserts "prefix: " before the sentence of @err, to add the context of the caller. */
int err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
