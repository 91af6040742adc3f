/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files that draw the live screen. */
#ifndef SUBTICK_VIEW_SCREEN_DRAW_H
#define SUBTICK_VIEW_SCREEN_DRAW_H

#include "view/screen/canvas.h"
#include "view/screen/screen.h"
#include "view/screen/layout.h"

/* Widths of a core's name and of the figures after its bar. */
int screen_cores_name_width(const struct table *table);
int screen_cores_figure_width(const struct table *table);
/* The number of lines of the legend; also draws it unless @canvas is NULL. */
int screen_cores_legend(const struct screen *screen, const struct table *table,
			const struct screen_layout *layout, int cols, struct canvas *canvas);
void screen_cores_draw(const struct screen *screen, const struct table *table,
		       const struct screen_layout *layout, struct canvas *canvas);

int screen_history_add(struct screen_history *history, const struct table *cores);
void screen_history_free(struct screen_history *history);
/* Draws the last @width windows of the core in @row. */
void screen_history_draw(const struct screen *screen, const struct table *cores, size_t row, int y,
			 int x, int width, struct canvas *canvas);

/* Draws information, heading and rows of a pane. */
int screen_pane_draw(struct screen *screen, struct screen_pane *pane, const struct table *table,
		     const struct screen_layout *layout, struct canvas *canvas);

/* Draws the active pane, which has a table, and those after it if there is room. */
int screen_stack_draw(struct screen *screen, const struct screen_layout *layout,
		      struct canvas *canvas);

#endif
