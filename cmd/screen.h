/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loop behind the live screen. */
#ifndef SUBTICK_CMD_SCREEN_H
#define SUBTICK_CMD_SCREEN_H

#include <stdbool.h>

#include "view/screen/terminal.h"

/*
 * Shows the cores, and what else this machine can measure, until q or a signal. @pressure: runq has its
 * table, too, which costs more than all the rest of it. Closes @terminal. Returns the exit code.
 */
int screen_run(struct terminal *terminal, bool pressure);

#endif
