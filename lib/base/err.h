/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An error: its errno, one sentence that describes the error, and the fix if a fix is known. */
#ifndef SUBTICK_BASE_ERR_H
#define SUBTICK_BASE_ERR_H

#include <stdbool.h>

struct err {
	int code;	  /* -errno, or 0 for no error */
	/* this machine does not support the requested measurement; the exit code is 77 */
	bool unsupported;
	/* description of the error in one sentence, without a newline or full stop at the end */
	char what[256];
	char fix[192];	  /* fix for the user, often a command, or "" */
};

/*
 * All functions of err.h return the error code, so that callers can write return err_set(err, -EIO,
 * "cannot read %s", path). @err may be NULL if the caller needs only the error code.
 */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int err_unsupported(struct err *err, int code, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Inserts "@fmt: " before the sentence of @err. @fmt describes the failed operation. */
int err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
