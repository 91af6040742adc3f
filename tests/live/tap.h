/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TAP for live tests: programs that also run alone, statically linked, in a guest. */
#ifndef SUBTICK_TESTS_TAP_H
#define SUBTICK_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define TAP_SKIP_ALL 77

struct tap {
	unsigned int run;
	unsigned int failed;
};

static struct tap tap;

__attribute__((format(printf, 2, 3))) static inline bool tap_ok(bool ok, const char *fmt, ...)
{
	va_list ap;

	tap.run++;
	tap.failed += !ok;
	printf("%sok %u - ", ok ? "" : "not ", tap.run);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	return ok;
}

__attribute__((format(printf, 1, 2))) static inline void tap_note(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

__attribute__((format(printf, 1, 2))) static inline void tap_skip(const char *fmt, ...)
{
	va_list ap;

	tap.run++;
	printf("ok %u # SKIP ", tap.run);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

/* The whole test does not apply here: TAP's word for it, and the exit code for meson's. */
__attribute__((format(printf, 1, 2), noreturn)) static inline void tap_skip_all(const char *fmt,
										...)
{
	va_list ap;

	printf("1..0 # SKIP ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	exit(TAP_SKIP_ALL);
}

static inline int tap_done(void)
{
	printf("1..%u\n", tap.run);
	return tap.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
