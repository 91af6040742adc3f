/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A rectangle of character cells in memory: the live screen, independent of a terminal. */
#ifndef SUBTICK_VIEW_SCREEN_CANVAS_H
#define SUBTICK_VIEW_SCREEN_CANVAS_H

#include <stdbool.h>

#include "view/cells.h"

#define CANVAS_CELL 16 /* bytes: a character and its combining marks */

struct canvas_cell {
	char text[CANVAS_CELL]; /* "" for a blank, and for the second half of a wide character */
	unsigned char width;	/* in columns; 0 for the second half of a wide character */
	unsigned char style;	/* enum style */
};

struct canvas {
	int rows, cols;
	struct canvas_cell *cells;
	bool ascii;  /* the terminal shows ASCII only: other characters become "?" */
	bool failed; /* memory ran out while drawing; never reset */
};

/* Makes a blank canvas. 0 or -ENOMEM. */
int canvas_init(struct canvas *canvas, int rows, int cols);
void canvas_free(struct canvas *canvas);

/*
 * Writes @text from @col on, escaped as in utf8_printable() and cut with "…" before @end. Returns
 * the column after the text. Writes nothing outside the canvas.
 */
int canvas_put(struct canvas *canvas, int row, int col, int end, enum style style,
	       const char *text);
int canvas_printf(struct canvas *canvas, int row, int col, int end, enum style style,
		  const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Writes one character @nr times. */
int canvas_repeat(struct canvas *canvas, int row, int col, int nr, enum style style,
		  const char *text);

#endif
