/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The JSON Schema of a command's --json output. */
#ifndef SUBTICK_VIEW_SCHEMA_H
#define SUBTICK_VIEW_SCHEMA_H

#include <stdio.h>

/* Writes one JSON document; -ENOENT if the command prints no JSON. */
int view_schema(FILE *out, const char *command);

#endif
