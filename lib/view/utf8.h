/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names that others chose (tasks, cgroups) can hold any byte: made safe for each format here. */
#ifndef SUBTICK_VIEW_UTF8_H
#define SUBTICK_VIEW_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Length of the valid sequence at @str, 0 if there is none; stops at a NUL. */
size_t utf8_decode(const char *str, uint32_t *ret_code);

/*
 * For terminals: bytes that are invalid, control the terminal or reorder the text become \xNN;
 * cut to @max columns with a final "…", 0 for no limit. Allocated; NULL when out of memory.
 */
char *utf8_printable(const char *str, size_t max);
/* The same without a limit, straight to a stream. */
void utf8_print(FILE *out, const char *str);
/* Columns that text takes on a terminal, by ranges of code points rather than by the locale. */
size_t utf8_width(const char *str);
/* Of the first @len bytes, which end where a character does. */
size_t utf8_width_of(const char *str, size_t len);

/* For data: invalid bytes become U+FFFD, all else stays. Allocated; NULL when out of memory. */
char *utf8_valid(const char *str);

#endif
