/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The JSON Schema of a command's --json output. */
#ifndef SUBTICK_VIEW_SCHEMA_H
#define SUBTICK_VIEW_SCHEMA_H

#include <stdio.h>

#include "report/columns.h"

/* Writes one JSON document. @tables: all lists of the command, NULL-terminated. */
void view_schema(FILE *out, const char *command, const struct table_spec *const *tables);

#endif
