/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replaces terminal.c in builds without ncurses, which have no live screen. */
#include "view/screen/canvas.h"

#include <errno.h>

#include "view/screen/screen.h"

bool terminal_usable(void)
{
	return false;
}

int terminal_open(bool color, struct terminal **ret_terminal, struct err *err)
{
	return err_unsupported(err, -ENOSYS, "build it with ncurses (-Dscreen=enabled)",
			       "this build has no live screen");
}

void terminal_close(struct terminal *terminal)
{
}

bool terminal_utf8(const struct terminal *terminal)
{
	return false;
}

void terminal_size(struct terminal *terminal, int *ret_rows, int *ret_cols)
{
	*ret_rows = *ret_cols = 0;
}

int terminal_key(struct terminal *terminal)
{
	return SCREEN_KEY_NONE;
}

void terminal_paint(struct terminal *terminal, const struct canvas *canvas, bool again)
{
}
