/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws the active pane and, as far as there is room, the panes after it. */
#include "view/screen/draw.h"

#include <stdlib.h>

#include "view/screen/rows.h"

#define HEAD  2 /* information and heading */
#define LEAST 2 /* least rows of a pane */

/*
 * The rows for a pane: the most it had so far, so that the panes below do not move with every
 * window. Or -ENOMEM.
 */
static long wanted_rows(struct screen_pane *pane, const struct table *table)
{
	size_t *rows;
	long nr = screen_rows(table, pane->filter, SCREEN_OWN_ORDER, false, &rows);

	if (nr < 0)
		return nr;
	free(rows);
	if ((size_t)nr > pane->rows_had)
		pane->rows_had = nr;
	return pane->rows_had ? (long)pane->rows_had : 1;
}

/* Draws @pane from @top on; returns the first line after it, or -errno. */
static int draw_at(struct screen *screen, struct screen_pane *pane, int top, int footer,
		   struct canvas *canvas, int *ret_rows)
{
	const struct table *table = screen_table(screen, pane);
	struct screen_layout part = {
		.info_row = top,
		.heading_row = top + 1,
		.table_top = top + HEAD,
		.table_rows = footer - top - HEAD,
		.footer_row = footer,
	};
	long wanted = wanted_rows(pane, table);
	int rc;

	if (wanted < 0)
		return wanted;
	/* If the rest is too small for another pane, this one gets it. */
	if (wanted < part.table_rows - 1 - HEAD - LEAST)
		part.table_rows = wanted;
	rc = screen_pane_draw(screen, pane, table, &part, canvas);
	*ret_rows = part.table_rows;
	return rc ? rc : part.table_top + part.table_rows;
}

int screen_stack_draw(struct screen *screen, const struct screen_layout *layout,
		      struct canvas *canvas)
{
	int top = layout->info_row, rows = 0;

	for (size_t i = 0; i < screen->nr_panes; i++) {
		struct screen_pane *pane = &screen->panes[(screen->active + i) % screen->nr_panes];
		const struct table *table = screen_table(screen, pane);

		if (!table || (i && !table->nr_rows && !pane->rows_had))
			continue;
		if (i && layout->footer_row - top < 1 + HEAD + LEAST)
			break;
		top = draw_at(screen, pane, i ? top + 1 : top, layout->footer_row, canvas, &rows);
		if (top < 0)
			return top;
		if (!i)
			screen->page = rows;
	}
	return 0;
}
