/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A terminal for canvases and keys, and how to leave it as it was. */
#ifndef SUBTICK_VIEW_SCREEN_TERMINAL_H
#define SUBTICK_VIEW_SCREEN_TERMINAL_H

#include <stdbool.h>

#include "base/err.h"
#include "view/screen/canvas.h"

struct terminal;

/* Whether standard input and output are one that can show a screen: not with TERM=dumb. */
bool terminal_usable(void);

/*
 * Takes the terminal until terminal_close(), which gives it back as it was, as does a signal that
 * ends the process by default (a crash). Only SIGKILL leaves it as it is then.
 */
int terminal_open(bool color, struct terminal **ret_terminal, struct err *err);
void terminal_close(struct terminal *terminal);

bool terminal_utf8(const struct terminal *terminal);
/* Asks the kernel, and follows. */
void terminal_size(struct terminal *terminal, int *ret_rows, int *ret_cols);
/* What was typed next, as screen.h names keys; SCREEN_KEY_NONE when nothing was. */
int terminal_key(struct terminal *terminal);
/* Shows @canvas; @again writes every cell, whatever the terminal is thought to show. */
void terminal_paint(struct terminal *terminal, const struct canvas *canvas, bool again);

#endif
