/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Returns the content of a canvas as text, so that tests can compare it. */
#ifndef SUBTICK_TESTS_CANVAS_TEXT_H
#define SUBTICK_TESTS_CANVAS_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/screen/canvas.h"

/*
 * Returns all rows as lines without trailing blanks, or NULL if memory is exhausted. The caller
 * frees the text.
 */
static char *canvas_text(const struct canvas *canvas)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (int row = 0; row < canvas->rows; row++) {
		int blanks = 0;

		for (int col = 0; col < canvas->cols; col++) {
			const struct canvas_cell *cell =
				&canvas->cells[(size_t)row * canvas->cols + col];

			if (!cell->width)
				continue;
			if (!cell->text[0] || !strcmp(cell->text, " ")) {
				blanks++;
				continue;
			}
			fprintf(out, "%*s%s", blanks, "", cell->text);
			blanks = 0;
		}
		fputc('\n', out);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

#endif
