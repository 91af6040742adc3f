/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One line to stderr. */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void log_line(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	/* One write, so that lines of two threads do not mix. */
	dprintf(STDERR_FILENO, "subtick serve: %s\n", line);
}
