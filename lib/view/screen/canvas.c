/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws clipped and escaped text into cells, so that no cell can control the terminal. */
#include "view/screen/canvas.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "view/utf8.h"

int canvas_init(struct canvas *canvas, int rows, int cols)
{
	rows = rows < 1 ? 1 : rows;
	cols = cols < 1 ? 1 : cols;
	*canvas = (struct canvas){.rows = rows, .cols = cols};
	canvas->cells = calloc((size_t)rows * cols, sizeof(*canvas->cells));
	if (!canvas->cells)
		return -ENOMEM;
	for (size_t i = 0; i < (size_t)rows * cols; i++)
		canvas->cells[i].width = 1;
	return 0;
}

void canvas_free(struct canvas *canvas)
{
	free(canvas->cells);
	canvas->cells = NULL;
}

static struct canvas_cell *cell_at(struct canvas *canvas, int row, int col)
{
	return &canvas->cells[(size_t)row * canvas->cols + col];
}

/* Clears a cell, and the other half of a wide character. */
static void cell_clear(struct canvas *canvas, int row, int col)
{
	struct canvas_cell *cell = cell_at(canvas, row, col);

	if (!cell->width && col > 0)
		*cell_at(canvas, row, col - 1) = (struct canvas_cell){.width = 1};
	if (cell->width == 2 && col + 1 < canvas->cols)
		*cell_at(canvas, row, col + 1) = (struct canvas_cell){.width = 1};
	*cell = (struct canvas_cell){.width = 1};
}

/* Adds a combining mark to the previous character if the cell has room. */
static void cell_mark(struct canvas *canvas, int row, int col, const char *mark, size_t len)
{
	struct canvas_cell *cell = cell_at(canvas, row, col);
	size_t used = strlen(cell->text);

	if (!used || used + len >= sizeof(cell->text))
		return;
	memcpy(cell->text + used, mark, len);
	cell->text[used + len] = '\0';
}

static void cell_set(struct canvas *canvas, int row, int col, const char *text, size_t len,
		     size_t width, enum style style)
{
	struct canvas_cell *cell = cell_at(canvas, row, col);

	cell_clear(canvas, row, col);
	memcpy(cell->text, text, len);
	cell->text[len] = '\0';
	cell->style = style;
	if (width < 2)
		return;
	cell_clear(canvas, row, col + 1);
	cell->width = 2;
	*cell_at(canvas, row, col + 1) = (struct canvas_cell){.width = 0, .style = style};
}

/* Writes escaped text into cells. Returns the canvas column after the written text. */
static int put_cells(struct canvas *canvas, int row, int col, enum style style, const char *text)
{
	int last = -1;

	while (*text) {
		uint32_t code;
		size_t len = utf8_decode(text, UTF8_LONGEST, &code), width;

		if (!len)
			break;
		width = utf8_width_of(text, len);
		if (!width) {
			if (last >= 0 && !canvas->ascii)
				cell_mark(canvas, row, last, text, len);
		} else if (canvas->ascii && code >= 0x80) {
			for (size_t i = 0; i < width; i++)
				cell_set(canvas, row, col + i, "?", 1, 1, style);
			last = -1;
		} else {
			cell_set(canvas, row, col, text, len, width, style);
			last = col;
		}
		col += width;
		text += len;
	}
	return col;
}

int canvas_put(struct canvas *canvas, int row, int col, int end, enum style style, const char *text)
{
	char *safe;

	if (end > canvas->cols)
		end = canvas->cols;
	if (row < 0 || row >= canvas->rows || col < 0 || col >= end || !*text)
		return col;
	safe = utf8_printable(text, end - col);
	if (!safe) {
		canvas->failed = true;
		return col;
	}
	col = put_cells(canvas, row, col, style, safe);
	free(safe);
	return col;
}

int canvas_printf(struct canvas *canvas, int row, int col, int end, enum style style,
		  const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (!text) {
		canvas->failed = true;
		return col;
	}
	col = canvas_put(canvas, row, col, end, style, text);
	free(text);
	return col;
}

int canvas_repeat(struct canvas *canvas, int row, int col, int nr, enum style style,
		  const char *text)
{
	for (int i = 0; i < nr; i++)
		col = canvas_put(canvas, row, col, canvas->cols, style, text);
	return col;
}
