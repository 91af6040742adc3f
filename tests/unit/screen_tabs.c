/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the live screen's line of tabs, with more panes than fit into the line. */
#include "canvas_text.h"
#include "test.h"

#include "base/clock.h"
#include "view/screen/screen.h"
#include "view/utf8.h"

static void show(struct screen *screen, const char *command, const char *const *keys, size_t nr)
{
	struct report *report = report_new(command);
	size_t slot = screen_add(screen, command);

	for (size_t i = 0; i < nr; i++) {
		struct table *table = report_table(report, keys[i], NULL);

		table_col(table, M_COUNT);
		value_u64(table_cell(table, table_row(table), 0), i);
	}
	assert_int_equal(screen_show(screen, slot, report), 0);
}

static char *tabs_of(struct screen *screen, int cols)
{
	struct canvas canvas;
	char *text, *tabs;

	assert_int_equal(canvas_init(&canvas, 40, cols), 0);
	assert_int_equal(screen_draw(screen, &canvas), 0);
	text = canvas_text(&canvas);
	assert_non_null(text);
	canvas_free(&canvas);
	/* On the screen, only the line of tabs contains the names of two panes. */
	tabs = strstr(text, "the_second   the_third ");
	if (!tabs)
		tabs = strstr(text, "the_second   noise the_third ");
	assert_non_null(tabs);
	while (tabs > text && tabs[-1] != '\n')
		tabs--;
	tabs = strndup(tabs, strcspn(tabs, "\n"));
	free(text);
	return tabs;
}

/*
 * If the tabs do not fit, repeated command names are omitted, then tabs are replaced by ">". The
 * active tab is always visible.
 */
TEST(test_tabs)
{
	static const char *const cpus[] = {"cpus"}, *const groups[] = {"groups"};
	static const char *const keys[] = {"the_first", "the_second", "the_third", "the_fourth",
					   "the_fifth"};
	struct screen screen;

	screen = (struct screen){.interval_ns = NSEC_PER_SEC};
	show(&screen, "overview", cpus, 1);
	show(&screen, "runq", groups, 1);
	show(&screen, "noise", keys, 5);
	/* All tabs need 129 columns, or 105 columns without repeated command names. */
	for (int cols = 80; cols < 160; cols++) {
		char *tabs = tabs_of(&screen, cols);
		int width = (int)utf8_width(tabs);

		assert_true(width <= cols);
		assert_true(strstr(tabs, " overview cpus ") == tabs);
		assert_int_equal(strstr(tabs, " noise the_second ") != NULL, cols >= 129);
		assert_non_null(strstr(tabs, " notes"));
		assert_int_equal(strstr(tabs, "> notes") != NULL, cols < 105);
		assert_true(width >= cols - 1 || cols >= 105);
		free(tabs);
	}
	screen_key(&screen, '7');
	for (int cols = 80; cols < 160; cols++) {
		char *tabs = tabs_of(&screen, cols);

		assert_non_null(strstr(tabs, " the_fifth"));
		free(tabs);
	}
	screen_free(&screen);
}

TEST_MAIN()
