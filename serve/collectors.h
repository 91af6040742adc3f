/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of collectors. */
#ifndef SUBTICK_SERVE_COLLECTORS_H
#define SUBTICK_SERVE_COLLECTORS_H

#include <stddef.h>

#include "collector.h"

/* Each is defined in the file of its name. */
#define COLLECTOR_DECLARE(name) extern const struct collector_ops collector_##name;
COLLECTORS(COLLECTOR_DECLARE)
#undef COLLECTOR_DECLARE

size_t collector_count(void);

/* Opens and starts the collectors that @config names. On failure all are closed. */
int collectors_open(struct collector *collectors, const struct config *config, struct err *err);
void collectors_close(struct collector *collectors);

#endif
