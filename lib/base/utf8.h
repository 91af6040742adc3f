/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes one character of UTF-8 text from an untrusted source. */
#ifndef SUBTICK_BASE_UTF8_H
#define SUBTICK_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Maximum length of a UTF-8 sequence in bytes. UTF8_LONGEST is a safe value of @max for
 * NUL-terminated text, because no sequence contains a NUL.
 */
#define UTF8_LONGEST 4

/*
 * Length of the valid UTF-8 sequence at the start of @str, at most @max bytes. Returns 0 for an
 * invalid sequence or a NUL.
 */
size_t utf8_decode(const char *str, size_t max, uint32_t *ret_code);

#endif
