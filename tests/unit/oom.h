/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes chosen allocations fail. The test program must be linked with -Wl,--wrap=calloc and the
 * same option for the other allocation functions. Only calls from subtick's own objects fail, not
 * calls inside libraries such as libc.
 */
#ifndef SUBTICK_TESTS_UNIT_OOM_H
#define SUBTICK_TESTS_UNIT_OOM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
	bool armed;
	bool lasting; /* all allocations after the first failure also fail */
	unsigned long fail_at, seen, failed;
} oom;

static inline void oom_arm(unsigned long fail_at, bool lasting)
{
	oom.fail_at = fail_at;
	oom.lasting = lasting;
	oom.seen = oom.failed = 0;
	oom.armed = true;
}

/* Returns the number of allocations that failed since oom_arm(). */
static inline unsigned long oom_disarm(void)
{
	oom.armed = false;
	return oom.failed;
}

static inline bool oom_fails(void)
{
	unsigned long nr;

	if (!oom.armed)
		return false;
	nr = oom.seen++;
	if (nr != oom.fail_at && !(oom.lasting && nr > oom.fail_at))
		return false;
	oom.failed++;
	return true;
}

#define OOM_WRAP(ret, name, params, args)                       \
	ret __real_##name params;                               \
	ret __wrap_##name params;                               \
	ret __wrap_##name params                                \
	{                                                       \
		return oom_fails() ? NULL : __real_##name args; \
	}

OOM_WRAP(void *, malloc, (size_t size), (size))
OOM_WRAP(void *, calloc, (size_t nr, size_t size), (nr, size))
OOM_WRAP(void *, reallocarray, (void *was, size_t nr, size_t size), (was, nr, size))
OOM_WRAP(char *, strdup, (const char *str), (str))

int __real_vasprintf(char **ret, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
int __wrap_vasprintf(char **ret, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

int __wrap_vasprintf(char **ret, const char *fmt, va_list ap)
{
	return oom_fails() ? -1 : __real_vasprintf(ret, fmt, ap);
}

#endif
