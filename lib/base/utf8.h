/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One character of UTF-8 text of unknown origin. */
#ifndef SUBTICK_BASE_UTF8_H
#define SUBTICK_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Maximum length of a UTF-8 sequence. A safe @max for NUL-terminated text, because no sequence
 * contains a NUL.
 */
#define UTF8_LONGEST 4

/*
 * Length of the valid sequence at the start of the first @max bytes, or 0 for an invalid sequence
 * or a NUL.
 */
size_t utf8_decode(const char *str, size_t max, uint32_t *ret_code);

#endif
