/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loop behind the live screen. */
#ifndef SUBTICK_CMD_SCREEN_H
#define SUBTICK_CMD_SCREEN_H

#include <stdbool.h>

#include "measure/meter.h"
#include "view/terminal.h"

/*
 * Shows @overview, and whatever else can be measured here, until q or a signal. Closes both.
 * Returns the exit code.
 */
int screen_run(struct meter *overview, struct terminal *terminal);

#endif
