/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A terminal that shows canvases and reads keys, and is restored afterwards. */
#ifndef SUBTICK_VIEW_SCREEN_TERMINAL_H
#define SUBTICK_VIEW_SCREEN_TERMINAL_H

#include <stdbool.h>

#include "base/err.h"
#include "view/screen/canvas.h"

struct terminal;

/* Whether standard input and output are a terminal that can show a screen: not with TERM=dumb. */
bool terminal_usable(void);

/*
 * Uses the terminal until terminal_close(), which restores it. A signal that ends the process by
 * default (a crash) restores it, too; only SIGKILL does not.
 */
int terminal_open(bool color, struct terminal **ret_terminal, struct err *err);
void terminal_close(struct terminal *terminal);

bool terminal_utf8(const struct terminal *terminal);
/* The current size, which may have changed. */
void terminal_size(struct terminal *terminal, int *ret_rows, int *ret_cols);
/* The next key, as in screen.h; SCREEN_KEY_NONE if none was typed. */
int terminal_key(struct terminal *terminal);
/* Shows @canvas; @again writes every cell, not only those that changed. */
void terminal_paint(struct terminal *terminal, const struct canvas *canvas, bool again);

#endif
