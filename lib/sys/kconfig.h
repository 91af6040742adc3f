/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The configuration of the running kernel, if it is readable. */
#ifndef SUBTICK_SYS_KCONFIG_H
#define SUBTICK_SYS_KCONFIG_H

#include <stddef.h>

enum kconfig_state {
	KCONFIG_UNKNOWN, /* no configuration was found */
	KCONFIG_NO,	 /* "is not set", or not listed */
	KCONFIG_YES,
	KCONFIG_MODULE,
	KCONFIG_VALUE, /* a number or a string */
};

struct kconfig {
	char *text; /* NULL: none was found */
	size_t len;
	char source[256]; /* the file, without the root */
};

/*
 * Tries /proc/config.gz, /boot/config-RELEASE and the module directory of @release. -ENOENT if
 * there is none; kconfig_get() then returns KCONFIG_UNKNOWN. -EINVAL if a file is not a
 * configuration, -EFBIG if it is too large to be one.
 */
int kconfig_open(struct kconfig *config, const char *root, const char *release);
void kconfig_close(struct kconfig *config);

/* @symbol without CONFIG_. */
enum kconfig_state kconfig_get(const struct kconfig *config, const char *symbol);
/* The same, and the value without quotes for KCONFIG_VALUE; -ENOSPC becomes KCONFIG_UNKNOWN. */
enum kconfig_state kconfig_value(const struct kconfig *config, const char *symbol, char *buf,
				 size_t size);
/* Of the running kernel, for one question; see kconfig_open() for where it is read. */
enum kconfig_state kconfig_running(const char *symbol);
/* Looks up @symbol in @text; pure. */
enum kconfig_state kconfig_parse(const char *text, size_t len, const char *symbol, char *buf,
				 size_t size);

#endif
