/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converts text to the form that a JSON parser returns: invalid bytes are U+FFFD. */
#ifndef SUBTICK_TESTS_UTF8_VALID_H
#define SUBTICK_TESTS_UTF8_VALID_H

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* Returns an allocated string that the caller frees, or NULL if out of memory. */
static inline char *utf8_valid(const char *str)
{
	char *out = malloc(3 * strlen(str) + 1), *to = out;
	uint32_t code;
	size_t len;

	for (; out && *str; str += len ?: 1) {
		len = utf8_decode(str, UTF8_LONGEST, &code);
		to = mempcpy(to, len ? str : "\xef\xbf\xbd", len ?: 3);
	}
	if (out)
		*to = '\0';
	return out;
}

#endif
