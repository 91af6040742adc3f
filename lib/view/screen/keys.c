/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Handles the keys of the live screen. */
#include "view/screen/screen.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

#define KEY_ESCAPE 0x1b
#define CTRL(c)	   ((c)&0x1f)

static const uint64_t intervals_ns[] = {
	100 * NSEC_PER_MSEC, 200 * NSEC_PER_MSEC, 500 * NSEC_PER_MSEC,
	NSEC_PER_SEC,	     2 * NSEC_PER_SEC,	  5 * NSEC_PER_SEC,
	10 * NSEC_PER_SEC,   30 * NSEC_PER_SEC,	  60 * NSEC_PER_SEC,
};

/* Selects the next longer or the next shorter entry of intervals_ns. */
static void step_interval(struct screen *screen, bool longer)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(intervals_ns) && intervals_ns[i] < screen->interval_ns + longer)
		i++;
	/* If no entry is shorter, i wraps to SIZE_MAX. */
	i -= !longer;
	if (i < ARRAY_SIZE(intervals_ns))
		screen->interval_ns = intervals_ns[i];
}

/* Selects the sort column. Position nr, after the last column, is the order of the report. */
static void step_sort(struct screen *screen, int step)
{
	struct screen_pane *pane = screen_active(screen);
	const struct table *table = screen_table(screen, pane);
	int nr, at;

	if (!table)
		return;
	nr = table->nr_cols;
	at = table_find(table, pane->sort);
	at = at < 0 ? nr : at;
	do
		at = (at + step + nr + 1) % (nr + 1);
	while (at < nr && !screen_col_shown(table, at, pane->all));
	snprintf(pane->sort, sizeof(pane->sort), "%s", at < nr ? table->cols[at].key : "");
	pane->descending = at < nr ? screen_col_descends(table, at) : pane->descending;
	pane->follow_sort = true;
	pane->first_row = 0;
}

static void choose_pane(struct screen *screen, size_t pane)
{
	if (pane > screen->nr_panes)
		return;
	screen->active = pane;
	screen->chosen = true;
	array_for_each(other, screen->panes, screen->nr_panes)
		other->rows_had = 0;
}

static void step_pane(struct screen *screen, bool forward)
{
	size_t nr = screen->nr_panes + 1;

	choose_pane(screen, (screen->active + (forward ? 1 : nr - 1)) % nr);
}

static void drop_last(char *text)
{
	size_t len = strlen(text);

	while (len && (text[len - 1] & 0xc0) == 0x80)
		len--;
	text[len ? len - 1 : 0] = '\0';
}

static void append(char *text, size_t size, int code)
{
	static const int lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t len = strlen(text);
	int nr = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	if (len + nr >= size)
		return;
	text[len + nr] = '\0';
	for (int i = nr - 1; i; i--, code >>= 6)
		text[len + i] = 0x80 | (code & 0x3f);
	text[len] = lead[nr] | code;
}

static void key_editing(struct screen *screen, int key)
{
	struct screen_pane *pane = screen_active(screen);

	switch (key) {
	case '\n':
	case '\r':
		memcpy(pane->filter, screen->draft, sizeof(pane->filter));
		pane->first_row = 0;
		pane->rows_had = 0;
		screen->editing = false;
		break;
	case KEY_ESCAPE:
		screen->editing = false;
		break;
	case SCREEN_KEY_BACKSPACE:
	case CTRL('h'):
	case 0x7f:
		drop_last(screen->draft);
		break;
	case CTRL('u'):
		screen->draft[0] = '\0';
		break;
	default:
		if (key >= ' ' && key < SCREEN_KEY_UP)
			append(screen->draft, sizeof(screen->draft), key);
	}
}

static void key_pane(struct screen *screen, int key)
{
	struct screen_pane *pane = screen_active(screen);
	size_t page = screen->page ? screen->page : 1;

	switch (key) {
	case 's':
	case 'S':
		step_sort(screen, key == 's' ? 1 : -1);
		break;
	case 'r':
		pane->descending = !pane->descending;
		break;
	case 'a':
		pane->all = !pane->all;
		break;
	case 'f':
	case '/':
		if (!pane->key[0])
			break;
		memcpy(screen->draft, pane->filter, sizeof(screen->draft));
		screen->editing = true;
		break;
	/* Scroll positions beyond the end are corrected when the screen is drawn. */
	case SCREEN_KEY_UP:
		pane->first_row -= pane->first_row > 0;
		break;
	case SCREEN_KEY_DOWN:
		pane->first_row++;
		break;
	case SCREEN_KEY_PAGE_UP:
		pane->first_row -= pane->first_row < page ? pane->first_row : page;
		break;
	case SCREEN_KEY_PAGE_DOWN:
		pane->first_row += page;
		break;
	case SCREEN_KEY_HOME:
		pane->first_row = 0;
		break;
	case SCREEN_KEY_END:
		pane->first_row = SIZE_MAX / 2;
		break;
	case SCREEN_KEY_LEFT:
	case SCREEN_KEY_RIGHT:
		if (key == SCREEN_KEY_RIGHT)
			pane->first_col++;
		else if (pane->first_col)
			pane->first_col--;
		pane->follow_sort = false;
		break;
	}
}

bool screen_key(struct screen *screen, int key)
{
	if (screen->editing) {
		key_editing(screen, key);
		return false;
	}
	/* While the help text is shown, any key except q closes it and has no other effect. */
	if (screen->help && key != 'q') {
		screen->help = false;
		return false;
	}
	switch (key) {
	case 'p':
	case ' ':
		screen->paused = !screen->paused;
		break;
	case 'h':
	case '?':
		screen->help = true;
		break;
	case '\t':
	case SCREEN_KEY_BACK_TAB:
		step_pane(screen, key == '\t');
		break;
	case '+':
	case '=':
	case '-':
		step_interval(screen, key != '-');
		break;
	case '1' ... '9':
		choose_pane(screen, key - '1');
		break;
	default:
		key_pane(screen, key);
	}
	return key == 'q';
}
