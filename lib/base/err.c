/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stores errors in struct err for the caller. Only the code in cmd/ prints errors. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void err_fill(struct err *err, int code, const char *fix, const char *fmt, va_list ap)
{
	if (!err)
		return;
	*err = (struct err){.code = code};
	vsnprintf(err->what, sizeof(err->what), fmt, ap);
	if (fix)
		snprintf(err->fix, sizeof(err->fix), "%s", fix);
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_fill(err, code, NULL, fmt, ap);
	va_end(ap);
	return code;
}

int err_unsupported(struct err *err, int code, const char *fix, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_fill(err, code, fix, fmt, ap);
	va_end(ap);
	if (err)
		err->unsupported = true;
	return code;
}

int err_prefix(struct err *err, const char *fmt, ...)
{
	char was[sizeof(err->what)];
	va_list ap;
	int len;

	if (!err)
		return 0;
	memcpy(was, err->what, sizeof(was));
	va_start(ap, fmt);
	len = vsnprintf(err->what, sizeof(err->what), fmt, ap);
	va_end(ap);
	if (len < 0 || (size_t)len >= sizeof(err->what))
		return err->code;
	/* snprintf() truncates an error sentence that is longer than the buffer. */
	snprintf(err->what + len, sizeof(err->what) - len, ": %s", was);
	return err->code;
}
