/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes one character of UTF-8 text from an untrusted source. */
#ifndef SUBTICK_BASE_UTF8_H
#define SUBTICK_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Maximum bytes of a UTF-8 sequence; a safe @max for NUL-terminated text. */
#define UTF8_LONGEST 4

/* Length of the valid UTF-8 sequence at @str, at most @max bytes; 0 if invalid or a NUL. */
size_t utf8_decode(const char *str, size_t max, uint32_t *ret_code);

#endif
