/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of tasks and cgroups can contain any byte: makes them safe for each output format. */
#ifndef SUBTICK_VIEW_UTF8_H
#define SUBTICK_VIEW_UTF8_H

#include <stddef.h>
#include <stdio.h>

/*
 * For every output but JSON, which has its own escapes: bytes that are invalid UTF-8, control a terminal
 * or reorder text become \xNN. So the result is UTF-8 that any reader can show. Cut to @max columns
 * with a final "…"; 0: no limit. Allocated; NULL if out of memory.
 */
char *utf8_printable(const char *str, size_t max);
/*
 * The same for a path or a name such as namespace/pod/container: what stays are the end of the folders,
 * where a pod has its name or UID, and both ends of the last part. Text without a '/' is cut at its end.
 */
char *utf8_printable_path(const char *str, size_t max);
/* utf8_printable() without a limit, written to a stream. */
void utf8_print(FILE *out, const char *str);
/* The width of text on a terminal in columns, by code point, independent of the locale. */
size_t utf8_width(const char *str);
/* The same for the first @len bytes, which must end at a character. */
size_t utf8_width_of(const char *str, size_t len);

#endif
