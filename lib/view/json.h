/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What other writers of JSON need of json.c. */
#ifndef SUBTICK_VIEW_JSON_H
#define SUBTICK_VIEW_JSON_H

#include <stdio.h>

/* A string in quotes, in ASCII; see put_char(). */
void json_put_text(FILE *out, const char *str);

#endif
