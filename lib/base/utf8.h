/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One character of UTF-8 text of unknown origin. */
#ifndef SUBTICK_BASE_UTF8_H
#define SUBTICK_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The longest sequence. As a limit it is right for all text that ends with a NUL: none has one inside. */
#define UTF8_LONGEST 4

/* Length of the valid sequence in the first @max bytes, 0 if there is none, or a NUL. */
size_t utf8_decode(const char *str, size_t max, uint32_t *ret_code);

#endif
