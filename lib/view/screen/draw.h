/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files that draw the live screen share. */
#ifndef SUBTICK_VIEW_SCREEN_DRAW_H
#define SUBTICK_VIEW_SCREEN_DRAW_H

#include "view/screen/canvas.h"
#include "view/screen/screen.h"
#include "view/screen/layout.h"

/* Columns that the name of a core takes, and the figure behind its bar. */
int screen_cores_name_width(const struct table *table);
int screen_cores_figure_width(const struct table *table);
/* Lines that the legend takes; draws it as well unless @canvas is NULL. */
int screen_cores_legend(const struct screen *screen, const struct table *table,
			const struct screen_layout *layout, int cols, struct canvas *canvas);
void screen_cores_draw(const struct screen *screen, const struct table *table,
		       const struct screen_layout *layout, struct canvas *canvas);

int screen_history_add(struct screen_history *history, const struct table *cores);
void screen_history_free(struct screen_history *history);
/* The last @width windows of the core in @row. */
void screen_history_draw(const struct screen *screen, const struct table *cores, size_t row, int y,
			 int x, int width, struct canvas *canvas);

/* Information, heading and rows of a pane. */
int screen_pane_draw(struct screen *screen, struct screen_pane *pane, const struct table *table,
		     const struct screen_layout *layout, struct canvas *canvas);

/* The active pane, which has a table, and those after it where there is room. */
int screen_stack_draw(struct screen *screen, const struct screen_layout *layout,
		      struct canvas *canvas);

#endif
