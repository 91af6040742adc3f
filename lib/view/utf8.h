/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Escapes text that can contain any byte, such as names of tasks and cgroups. */
#ifndef SUBTICK_VIEW_UTF8_H
#define SUBTICK_VIEW_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Escapes text for all formats except JSON: bytes that are invalid UTF-8, control a terminal or
 * reorder text become \xNN. The result is cut to @max columns with a final "…" unless @max is 0.
 * The caller frees the result. Returns NULL if out of memory.
 */
char *utf8_printable(const char *str, size_t max);
/*
 * As utf8_printable(), but shortens a path to the end of the directories, which names the pod, and
 * both ends of the last component. Text without a '/' is cut at its end.
 */
char *utf8_printable_path(const char *str, size_t max);
/* Writes text escaped by utf8_printable() to a stream, without a length limit. */
void utf8_print(FILE *out, const char *str);
/*
 * Writes utf8_printable() text as HTML or XML. @quotes: also escape quotes, as attributes need.
 * Writes "(out of memory)" if memory is exhausted.
 */
void utf8_print_markup(FILE *out, const char *str, size_t max, bool quotes);
/* Returns the width of text on a terminal in columns, independent of the locale. */
size_t utf8_width(const char *str);
/* Width of the first @len bytes of @str in columns. @len must be at the end of a character. */
size_t utf8_width_of(const char *str, size_t len);

#endif
