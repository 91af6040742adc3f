/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Divides the screen between the cores and the tables. */
#include "view/screen/draw.h"

#define BAR_MIN	    12 /* with edges: 10 % per character */
#define BAR_LONG    52 /* with edges: 2 % per character */
#define HISTORY_MIN 16
#define TABLE_MIN   6 /* least rows for the table */
#define GAP	    2
#define FIXED	    8 /* header, finding, advice, losses, tabs, information, heading, footer */

static size_t div_up(size_t a, size_t b)
{
	return (a + b - 1) / b;
}

/* As few columns as the height allows: long bars are more precise than short ones. */
static bool fit_bars(const struct screen_wants *wants, int room, struct screen_layout *layout)
{
	int least = wants->name_width + 1 + BAR_MIN + 1 + wants->figure_width;
	int most = (wants->cols + GAP) / (least + GAP), columns;

	if (room < 1 || most < 1)
		return false;
	columns = div_up(wants->nr_cores, room);
	if (columns > most)
		return false;
	layout->mode = SCREEN_CORES_BARS;
	layout->columns = columns;
	layout->cell_width = (wants->cols + GAP) / columns - GAP;
	layout->bar_width = layout->cell_width - (least - BAR_MIN);
	/* Beyond this length the history of the core is more useful than a longer bar. */
	if (layout->bar_width >= BAR_LONG + HISTORY_MIN + 1) {
		layout->history_width = layout->bar_width - BAR_LONG - 1;
		if (layout->history_width > SCREEN_HISTORY)
			layout->history_width = SCREEN_HISTORY;
		layout->bar_width -= layout->history_width + 1;
	}
	layout->cores_rows = div_up(wants->nr_cores, columns);
	return true;
}

/* "123-186 |…|": a power of two per line, so that cores are easy to count. */
static void fit_map(const struct screen_wants *wants, int room, struct screen_layout *layout)
{
	int label = 2 * wants->name_width + 1 + 1, per_row = 8;

	while (label + 2 + per_row * 2 <= wants->cols)
		per_row *= 2;
	layout->mode = SCREEN_CORES_MAP;
	layout->per_row = per_row;
	layout->group = 1;
	while (div_up(wants->nr_cores, layout->group * per_row) > (size_t)room)
		layout->group *= 2;
	layout->cores_rows = div_up(wants->nr_cores, layout->group * per_row);
}

void screen_layout(const struct screen_wants *wants, struct screen_layout *ret_layout)
{
	struct screen_layout layout = {.group = 1, .legend_rows = wants->legend_rows};
	int row = 1, room;

	if (wants->rows < SCREEN_MIN_ROWS || wants->cols < SCREEN_MIN_COLS) {
		*ret_layout = (struct screen_layout){.too_small = true};
		return;
	}
	if (!wants->nr_cores)
		layout.legend_rows = 0;
	room = wants->rows - FIXED - layout.legend_rows - TABLE_MIN;
	if (wants->nr_cores && !fit_bars(wants, room, &layout))
		fit_map(wants, room, &layout);
	layout.cores_top = row;
	row += layout.cores_rows;
	layout.legend_top = row;
	row += layout.legend_rows;
	layout.finding_row = row;
	row += 2; /* the sentence, and what to do next */
	layout.loss_row = row++;
	layout.tabs_row = row++;
	layout.info_row = row;
	layout.footer_row = wants->rows - 1;
	layout.table_rows = layout.footer_row - row - SCREEN_PANE_HEAD;
	*ret_layout = layout;
}

size_t screen_scroll(size_t first, size_t at, size_t nr, size_t room)
{
	if (nr <= room)
		return 0;
	if (first > nr - room)
		first = nr - room;
	if (at >= nr)
		at = nr - 1;
	if (at < first)
		return at;
	return at >= first + room && room ? at - room + 1 : first;
}
