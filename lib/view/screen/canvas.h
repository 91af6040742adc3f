/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A rectangle of character cells in memory, and the terminal that shows it. */
#ifndef SUBTICK_VIEW_SCREEN_CANVAS_H
#define SUBTICK_VIEW_SCREEN_CANVAS_H

#include <stdbool.h>

#include "base/err.h"
#include "view/cells.h"

#define CANVAS_CELL 16 /* maximum number of bytes of a character and its combining marks */

struct canvas_cell {
	/* character with combining marks; "" for a blank or the second half of a wide character */
	char text[CANVAS_CELL];
	unsigned char width;	/* columns of `text`; 0 for the second half of a wide character */
	unsigned char style;	/* enum style */
};

struct canvas {
	int rows, cols;
	struct canvas_cell *cells;
	/* true if "?" replaces all characters that are not ASCII */
	bool ascii;
	bool failed; /* out of memory while drawing; never reset */
};

int canvas_init(struct canvas *canvas, int rows, int cols);
void canvas_free(struct canvas *canvas);

/*
 * Writes text from column @col on, escaped, and cut with "…" before column @end. Cells outside the
 * canvas are not written. Returns the column after the text.
 */
int canvas_put(struct canvas *canvas, int row, int col, int end, enum style style,
	       const char *text);
int canvas_printf(struct canvas *canvas, int row, int col, int end, enum style style,
		  const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Writes one character @nr times. */
int canvas_repeat(struct canvas *canvas, int row, int col, int nr, enum style style,
		  const char *text);

/* A terminal that shows canvases and reads keys. */
struct terminal;

/* True if standard input and output are a terminal, and TERM is not "dumb". */
bool terminal_usable(void);

/*
 * Opens the terminal. terminal_close() restores the terminal mode. A signal handler restores the
 * mode after a crash by any signal except SIGKILL.
 */
int terminal_open(bool color, struct terminal **ret_terminal, struct err *err);
void terminal_close(struct terminal *terminal);

bool terminal_utf8(const struct terminal *terminal);
/* Gets the current size of the terminal, which may have changed. */
void terminal_size(struct terminal *terminal, int *ret_rows, int *ret_cols);
/* Returns the next key, or SCREEN_KEY_NONE if no key is pending. */
int terminal_key(struct terminal *terminal);
/* Shows a canvas. If @again is true, writes all cells, else only changed cells. */
void terminal_paint(struct terminal *terminal, const struct canvas *canvas, bool again);

#endif
