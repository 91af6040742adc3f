/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Handles the keys of the live screen. */
#include "view/screen/screen.h"

#include <stdlib.h>
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

#define NR_INTERVALS (ARRAY_SIZE(intervals_ns))

static enum screen_action step_interval(struct screen *screen, bool longer)
{
	size_t i = 0;

	while (i < NR_INTERVALS && intervals_ns[i] < screen->interval_ns + longer)
		i++;
	/*
	 * If @longer is false, the new interval is the previous entry of intervals_ns. Without a
	 * previous entry, i wraps to SIZE_MAX.
	 */
	i -= !longer;
	if (i >= NR_INTERVALS)
		return SCREEN_NOTHING;
	screen->interval_ns = intervals_ns[i];
	return SCREEN_INTERVAL;
}

/*
 * Selects the next or previous sort column. Between the last and the first sort column, the table
 * has the order of the report.
 */
static enum screen_action step_sort(struct screen *screen, int step)
{
	struct screen_pane *pane = screen_active(screen);
	const struct table *table = screen_table(screen, pane);
	int nr, at;
	char *key = NULL;

	if (!table)
		return SCREEN_NOTHING;
	nr = table->nr_cols;
	at = pane->sort ? table_find(table, pane->sort) : -1;
	do {
		at += step;
		if (at < -1)
			at = nr - 1;
		if (at >= nr)
			at = -1;
	} while (at >= 0 && !screen_col_shown(table, at, pane->all));
	if (at >= 0) {
		key = strdup(table->cols[at].key);
		if (!key)
			return SCREEN_NOTHING;
		pane->descending = screen_col_descends(table, at);
	}
	free(pane->sort);
	pane->sort = key;
	pane->follow_sort = true;
	pane->first_row = 0;
	return SCREEN_REDRAW;
}

static enum screen_action choose_pane(struct screen *screen, size_t pane)
{
	if (pane > screen->nr_panes)
		return SCREEN_NOTHING;
	screen->active = pane;
	screen->chosen = true;
	for (size_t i = 0; i < screen->nr_panes; i++)
		screen->panes[i].rows_had = 0;
	return SCREEN_REDRAW;
}

static enum screen_action step_pane(struct screen *screen, bool forward)
{
	size_t nr = screen->nr_panes + 1;

	return choose_pane(screen, (screen->active + (forward ? 1 : nr - 1)) % nr);
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

static enum screen_action key_editing(struct screen *screen, int key)
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
		if (key < ' ' || key >= SCREEN_KEY_UP)
			return SCREEN_NOTHING;
		append(screen->draft, sizeof(screen->draft), key);
	}
	return SCREEN_REDRAW;
}

static enum screen_action key_pane(struct screen *screen, int key)
{
	struct screen_pane *pane = screen_active(screen);
	size_t page = screen->page ? screen->page : 1;

	switch (key) {
	case 's':
		return step_sort(screen, 1);
	case 'S':
		return step_sort(screen, -1);
	case 'r':
		pane->descending = !pane->descending;
		break;
	case 'a':
		pane->all = !pane->all;
		break;
	case 'f':
	case '/':
		if (!pane->key)
			return SCREEN_NOTHING;
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
	default:
		return SCREEN_NOTHING;
	}
	return SCREEN_REDRAW;
}

enum screen_action screen_key(struct screen *screen, int key)
{
	if (screen->editing)
		return key_editing(screen, key);
	if (screen->help && key != 'q') {
		/* Any key closes the help text and has no other effect. */
		screen->help = false;
		return SCREEN_REDRAW;
	}
	switch (key) {
	case 'q':
		return SCREEN_QUIT;
	case 'p':
	case ' ':
		screen->paused = !screen->paused;
		return SCREEN_REDRAW;
	case 'h':
	case '?':
		screen->help = true;
		return SCREEN_REDRAW;
	case '\t':
		return step_pane(screen, true);
	case SCREEN_KEY_BACK_TAB:
		return step_pane(screen, false);
	case '+':
	case '=':
		return step_interval(screen, true);
	case '-':
		return step_interval(screen, false);
	case CTRL('l'):
		return SCREEN_REDRAW;
	case '1' ... '9':
		return choose_pane(screen, key - '1');
	default:
		return key_pane(screen, key);
	}
}
