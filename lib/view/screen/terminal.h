/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A terminal that shows canvases and reads keys; its mode is restored at the end. */
#ifndef SUBTICK_VIEW_SCREEN_TERMINAL_H
#define SUBTICK_VIEW_SCREEN_TERMINAL_H

#include <stdbool.h>

#include "base/err.h"
#include "view/screen/canvas.h"

struct terminal;

/* True if standard input and output are a terminal that can show a screen; false for TERM=dumb. */
bool terminal_usable(void);

/*
 * Opens the terminal. terminal_close() restores its mode. A crash by a signal also restores the
 * mode, except SIGKILL.
 */
int terminal_open(bool color, struct terminal **ret_terminal, struct err *err);
void terminal_close(struct terminal *terminal);

bool terminal_utf8(const struct terminal *terminal);
/* Current size of the terminal, which may have changed. */
void terminal_size(struct terminal *terminal, int *ret_rows, int *ret_cols);
/* Next key as defined in screen.h, or SCREEN_KEY_NONE if no key is pending. */
int terminal_key(struct terminal *terminal);
/* Shows @canvas. @again: write every cell instead of only changed cells. */
void terminal_paint(struct terminal *terminal, const struct canvas *canvas, bool again);

#endif
