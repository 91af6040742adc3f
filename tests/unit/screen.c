/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the live screen without a terminal: layout, order, filter, keys and drawing. */
#include "canvas_text.h"
#include "test.h"

#include <math.h>

#include "base/clock.h"
#include "report/findings.h"
#include "view/screen/screen.h"
#include "view/utf8.h"

static struct report *make_cores(size_t nr, double busy, double claim)
{
	struct report *report = report_begin("overview", NSEC_PER_SEC, NSEC_PER_SEC, "bpf");
	struct table *table = report_table(report, "cpus", NULL);
	size_t first;

	table_col(table, M_CPU);
	table_col(table, M_BUSY_RATIO);
	first = table_col(table, M_TASK_RATIO);
	table_col(table, M_HARDIRQ_RATIO);
	table_col(table, M_IDLE_RATIO);
	table->bar_first = first;
	table->bar_end = first + 3;
	table_col(table, M_FLAGS);
	table_col(table, M_CMP_PROCSTAT);
	for (size_t i = 0; i < nr; i++) {
		size_t row = table_row(table);
		double own = busy < 0 ? (double)i / (double)nr : busy;

		value_u64(table_cell(table, row, 0), i);
		value_f64(table_cell(table, row, 1), own);
		value_f64(table_cell(table, row, 2), own * 0.8);
		value_f64(table_cell(table, row, 3), own * 0.2);
		value_f64(table_cell(table, row, 4), 1 - own);
		value_str(table_cell(table, row, 5), "");
		value_f64(table_cell(table, row, 6), claim < 0 ? own : claim);
	}
	value_f64(report_quality(report, M_CLOSURE_MAX_RATIO), 0.000004);
	value_u64(report_quality(report, M_torn_total), 0);
	report_note(report, "a note of the overview");
	return report;
}

static struct report *make_names(const char *const *names, const uint64_t *counts, size_t nr)
{
	struct report *report = report_begin("runq", 0, NSEC_PER_SEC, "sched_info");
	struct table *table = report_table(report, "groups", "waits for a core by cgroup");

	table_col(table, M_COMMAND);
	table_col(table, M_COUNT);
	table_col_as(table, M_PERCENTILE_NS, "p99_ns", "p99");
	for (size_t i = 0; i < nr; i++) {
		size_t row = table_row(table);

		value_str(table_cell(table, row, 0), names[i]);
		if (counts[i] == UINT64_MAX)
			continue;
		value_u64(table_cell(table, row, 1), counts[i]);
		value_u64(table_cell(table, row, 2), 1000 * (nr - i));
	}
	return report;
}

static char *draw(struct screen *screen, int rows, int cols)
{
	struct canvas canvas;
	char *text;

	assert_int_equal(canvas_init(&canvas, rows, cols), 0);
	assert_int_equal(screen_draw(screen, &canvas), 0);
	text = canvas_text(&canvas);
	assert_non_null(text);
	canvas_free(&canvas);
	return text;
}

static char *line(const char *text, int nr)
{
	size_t len;

	while (nr--)
		text = strchr(text, '\n') + 1;
	len = strcspn(text, "\n");
	return strndup(text, len);
}

/* Bytes that stand for special keys in the parameter @keys of type(). */
#define BACK_TAB  "\x01"
#define BACKSPACE "\x02"
#define DOWN	  "\x03"
#define UP	  "\x04"
#define END	  "\x05"
#define PAGE_UP	  "\x06"
#define HOME	  "\x07"

static void type(struct screen *screen, const char *keys)
{
	static const int special[] = {[1] = SCREEN_KEY_BACK_TAB,
				      SCREEN_KEY_BACKSPACE,
				      SCREEN_KEY_DOWN,
				      SCREEN_KEY_UP,
				      SCREEN_KEY_END,
				      SCREEN_KEY_PAGE_UP,
				      SCREEN_KEY_HOME};

	for (; *keys; keys++)
		screen_key(screen, *keys < 8 ? special[(int)*keys] : (unsigned char)*keys);
}

/*
 * Types the keys of each step {keys, shows, hides}, and checks that the screen contains the text
 * `shows` and does not contain `hides`.
 */
static void play(struct screen *screen, const char *const (*steps)[3], size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const char *shows = steps[i][1], *hides = steps[i][2];
		char *text;

		type(screen, steps[i][0]);
		text = draw(screen, 30, 100);
		if ((shows && !strstr(text, shows)) || (hides && strstr(text, hides)))
			fail_msg("step %zu, %s, %s:\n%s", i, shows ?: "", hides ?: "", text);
		free(text);
	}
}

/* Usage: PLAY(screen, {keys, shows, hides}, …) */
#define PLAY(screen, ...)                                   \
	play(screen, (const char *const[][3]){__VA_ARGS__}, \
	     sizeof((const char *const[][3]){__VA_ARGS__}) / sizeof(char *[3]))

/* In each layout nothing overlaps or exceeds the screen, and the table has at least 6 rows. */
TEST(test_layout)
{
	for (int rows = 1; rows < 120; rows++)
		for (int cols = 40; cols < 260; cols += 7)
			for (size_t nr = 0; nr < 5000; nr = nr * 2 + 1) {
				struct screen_wants wants = {rows, cols, nr, nr > 99 ? 4 : 2,
							     13,   2};
				struct screen_layout l;

				screen_layout(&wants, &l);
				assert_int_equal(l.too_small, rows < 24 || cols < 80);
				if (l.too_small)
					continue;
				assert_int_equal(l.cores_top, 1);
				assert_int_equal(l.legend_top, l.cores_top + l.cores_rows);
				assert_int_equal(l.finding_row, l.legend_top + l.legend_rows);
				assert_int_equal(l.loss_row, l.finding_row + 2);
				assert_true(l.tabs_row > l.loss_row && l.info_row > l.tabs_row);
				assert_int_equal(l.info_row + SCREEN_PANE_HEAD + l.table_rows,
						 l.footer_row);
				assert_int_equal(l.footer_row, rows - 1);
				assert_true(l.table_rows >= 6);
				if (!nr) {
					assert_int_equal(l.mode, SCREEN_CORES_NONE);
				} else if (l.mode == SCREEN_CORES_BARS) {
					assert_true((size_t)l.columns * l.cores_rows >= nr);
					assert_true(l.columns * l.cell_width +
							    (l.columns - 1) * 2 <=
						    cols);
					assert_true(l.bar_width >= 12);
					assert_true(l.history_width >= 0 &&
						    l.history_width <= SCREEN_HISTORY);
					/*
					 * Name, bar, values, history and blanks of a core fit into
					 * its cell.
					 */
					assert_true(wants.name_width + 1 + l.bar_width + 1 + 13 +
							    (l.history_width ? 1 + l.history_width
									     : 0) <=
						    l.cell_width);
				} else {
					assert_true((size_t)l.per_row * l.cores_rows * l.group >=
						    nr);
					assert_true(l.per_row + 2 * wants.name_width + 4 <= cols);
				}
			}
}

TEST(test_layout_known)
{
	static const struct {
		size_t nr;
		int name_width;
		struct screen_layout layout; /* expected values of the compared members */
	} rows[] = {
		{2, 1, {.mode = SCREEN_CORES_BARS, .columns = 1, .cores_rows = 2, .group = 1}},
		{16, 2, {.mode = SCREEN_CORES_BARS, .columns = 2, .cores_rows = 8, .group = 1}},
		{256, 3, {.mode = SCREEN_CORES_MAP, .per_row = 64, .cores_rows = 4, .group = 1}},
		{4096, 4, {.mode = SCREEN_CORES_MAP, .per_row = 64, .cores_rows = 8, .group = 8}},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct screen_wants wants = {24, 80, rows[i].nr, rows[i].name_width, 13, 2};
		struct screen_layout l;

		screen_layout(&wants, &l);
		assert_int_equal(l.mode, rows[i].layout.mode);
		assert_int_equal(l.columns, rows[i].layout.columns);
		assert_int_equal(l.cores_rows, rows[i].layout.cores_rows);
		assert_int_equal(l.per_row, rows[i].layout.per_row);
		assert_int_equal(l.group, rows[i].layout.group);
	}
}

TEST(test_scroll)
{
	assert_int_equal(screen_scroll(0, 0, 5, 10), 0);
	assert_int_equal(screen_scroll(3, 3, 5, 10), 0);
	assert_int_equal(screen_scroll(90, 90, 100, 10), 90);
	assert_int_equal(screen_scroll(95, 95, 100, 10), 90);
	assert_int_equal(screen_scroll(SIZE_MAX / 2, SIZE_MAX / 2, 100, 10), 90);
	assert_int_equal(screen_scroll(0, 10, 100, 10), 1);
	assert_int_equal(screen_scroll(20, 5, 100, 10), 5);
	assert_int_equal(screen_scroll(0, 0, 0, 10), 0);
}

static const char *const names[] = {"/b", "/a/Web", "/c", "/a/db"};
static const uint64_t counts[] = {7, UINT64_MAX, 9, 7};

static void expect_rows(const struct table *table, const char *filter, int sort, bool descending,
			const char *order)
{
	size_t *rows = NULL;
	long nr = screen_rows(table, filter, sort, descending, &rows);
	char got[16] = "";

	for (long i = 0; i < nr; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%zu", rows[i]);
	assert_string_equal(got, order);
	free(rows);
}

TEST(test_rows)
{
	struct report *report = make_names(names, counts, 4), *cores = make_cores(12, -1, -1);
	const struct table *table = report->tables[0];

	expect_rows(table, "", -1, false, "0123");
	expect_rows(table, "", 0, false, "1302");
	expect_rows(table, "", 0, true, "2031");
	/* Null values are last in ascending and descending order. Equal rows keep their order. */
	expect_rows(table, "", 1, true, "2031");
	expect_rows(table, "", 1, false, "0321");
	expect_rows(table, "web", -1, false, "1");
	expect_rows(table, "/a", 0, true, "31");
	expect_rows(table, "nobody", 0, true, "");
	expect_rows(table, "", 99, true, "0123");
	expect_rows(cores->tables[0], "1", -1, false, "1");
	expect_rows(cores->tables[0], "11", -1, false, "11");
	report_free(report);
	report_free(cores);
}

TEST(test_rows_large)
{
	static const char *const two[] = {"a", "b"};
	static const uint64_t near[] = {9007199254740993ULL, 9007199254740992ULL};
	struct report *report = make_names(two, near, 2);

	/* Rows "a" and "b" have different integer values that are equal as doubles. */
	expect_rows(report->tables[0], "", 1, false, "10");
	report_free(report);
}

static void fill(struct screen *screen)
{
	*screen = (struct screen){.interval_ns = NSEC_PER_SEC};
	assert_int_equal(screen_add(screen, "overview"), 0);
	assert_int_equal(screen_add(screen, "runq"), 1);
	assert_int_equal(screen_add(screen, "wake"), 2);
	assert_int_equal(screen_show(screen, 0, make_cores(2, 0.25, 0.75)), 0);
	assert_int_equal(screen_show(screen, 1, make_names(names, counts, 4)), 0);
}

TEST(test_bars)
{
	struct screen screen;
	char *text, *row;

	fill(&screen);
	text = draw(&screen, 24, 80);
	row = line(text, 0);
	assert_non_null(strstr(row, "source bpf, window 1.00 s, closure 0.0004%"));
	assert_non_null(strstr(row, "every 1.00 s"));
	free(row);
	/*
	 * The bar has 62 characters, of which 15.5 are busy time. A fifth of the busy time is
	 * hardirq. The marker of the load in /proc/stat is at 75 %.
	 */
	row = line(text, 1);
	assert_string_equal(row, "0 [████████████▓▓▓▓···························"
				 "···┃···············]  25.0%  75.0%");
	free(row);
	assert_non_null(strstr(text, "lost: nothing"));
	assert_non_null(strstr(text, "cpus: source bpf, window 1.00 s, 2 rows"));
	free(text);
	screen.ascii = true;
	text = draw(&screen, 24, 80);
	for (const char *at = text; *at; at++)
		assert_true((unsigned char)*at < 0x80);
	assert_non_null(strstr(text, "0 [############%%%"));
	free(text);
	screen_free(&screen);
}

TEST(test_many_cores)
{
	struct screen screen;
	char *text, *row;

	screen = (struct screen){.interval_ns = NSEC_PER_SEC};
	screen_add(&screen, "overview");
	screen_show(&screen, 0, make_cores(256, -1, -1));
	text = draw(&screen, 24, 80);
	row = line(text, 1);
	assert_int_equal(strncmp(row, "  0-63  [▁", strlen("  0-63  [▁")), 0);
	assert_int_equal(utf8_width(row), 8 + 66);
	free(row);
	row = line(text, 4);
	assert_int_equal(strncmp(row, "192-255 [▇", strlen("192-255 [▇")), 0);
	assert_non_null(strstr(row, "█]"));
	free(row);
	free(text);
	text = draw(&screen, 60, 240);
	assert_non_null(strstr(text, "\n  0 ["));
	assert_non_null(strstr(text, "255 ["));
	free(text);
	/* A core is in reverse video if /proc/stat is wrong by more than 5 percentage points. */
	for (int sign = -1; sign <= 1; sign += 2)
		for (int points = 4; points <= 6; points += 2) {
			struct canvas canvas;

			screen_show(&screen, 0, make_cores(256, 0.5, 0.5 + sign * points / 100.0));
			assert_int_equal(canvas_init(&canvas, 24, 80), 0);
			assert_int_equal(screen_draw(&screen, &canvas), 0);
			assert_int_equal(canvas.cells[80 + 9].style == STYLE_REVERSE, points > 5);
			canvas_free(&canvas);
		}
	text = draw(&screen, 24, 80);
	assert_non_null(strstr(text, "more than 5 points off"));
	free(text);
	screen_free(&screen);
}

TEST(test_sizes)
{
	struct screen screen;

	/* Only a few terminal sizes are tested, because the test is slow with sanitizers. */
	for (size_t nr = 1; nr <= 1024; nr *= 32) {
		fill(&screen);
		screen_show(&screen, 0, make_cores(nr, -1, 0.5));
		for (int rows = 1; rows < 70; rows += 7)
			for (int cols = 1; cols < 250; cols += 41) {
				screen_key(&screen, rows % 2 ? '\t' : 's');
				free(draw(&screen, rows, cols));
			}
		screen_free(&screen);
	}
	fill(&screen);
	{
		char *text = draw(&screen, 23, 80);

		assert_int_equal(
			strncmp(text, "subtick needs 80 x 24\nthis is 80 x 23\nq quits\n", 46), 0);
		free(text);
	}
	screen_free(&screen);
}

TEST(test_keys)
{
	struct screen screen;

	fill(&screen);
	PLAY(&screen, {"", "cpus: source bpf"},
	     {"\t", "waits for a core by cgroup: source sched_info, window 1.00 s, 4 rows"},
	     {"s", "command▲"}, {"", "\n/a/Web"}, {"s", "count▼"}, {"r", "count▲"},
	     {"ss", NULL, "▲"}, {"", NULL, "▼"}, {"S", "p99▼"}, {BACK_TAB, "cpus: source bpf"},
	     {BACK_TAB, "a note of the overview"}, {"p", "PAUSED"}, {" ", NULL, "PAUSED"},
	     {"h", "subtick: keys"}, {"p", NULL, "subtick: keys"}, {"", NULL, "PAUSED"});
	assert_false(screen_key(&screen, 's'));
	assert_true(screen_key(&screen, 'q'));
	screen_free(&screen);
}

TEST(test_filter)
{
	struct screen screen;

	fill(&screen);
	/* While the user types a filter, letters are not commands, and the rows stay. */
	PLAY(&screen, {"\tfwEbq", "filter: wEbq"}, {"", "/a/db"},
	     {BACKSPACE "\r", "1 of 4 rows, filter \"wEb\"", "/a/db"}, {"", "/a/Web"},
	     {"fzzz\033", "filter \"wEb\""}, {"/zzz\n", "no row matches the filter"},
	     {"/\025\n", "4 rows"});
	/* Backspace deletes a whole character. The filter's length is limited. */
	type(&screen, "f");
	screen_key(&screen, 0x4e16);
	assert_string_equal(screen.draft, "世");
	screen_key(&screen, 0x1f600);
	type(&screen, BACKSPACE);
	assert_string_equal(screen.draft, "世");
	type(&screen, BACKSPACE BACKSPACE);
	assert_string_equal(screen.draft, "");
	for (int i = 0; i < 200; i++)
		screen_key(&screen, 0x20ac);
	assert_int_equal(strlen(screen.draft), 63);
	screen_free(&screen);
}

TEST(test_interval)
{
	struct screen screen;

	screen = (struct screen){.interval_ns = NSEC_PER_SEC};
	assert_false(screen_key(&screen, '+'));
	assert_int_equal(screen.interval_ns, 2 * NSEC_PER_SEC);
	for (int i = 0; i < 20; i++)
		screen_key(&screen, '+');
	assert_int_equal(screen.interval_ns, 60 * NSEC_PER_SEC);
	for (int i = 0; i < 20; i++)
		screen_key(&screen, '-');
	assert_int_equal(screen.interval_ns, 100 * NSEC_PER_MSEC);
	screen_free(&screen);
}

/* The pane keeps its sort order when the reports and their columns change. */
TEST(test_next_report)
{
	static const char *const later[] = {"/x", "/y"};
	static const uint64_t more[] = {1, 2};
	struct screen screen;

	fill(&screen);
	type(&screen, "\tss");
	screen_show(&screen, 1, make_names(later, more, 2));
	PLAY(&screen, {"", "count▼"}, {"", "/y             2  1.00 us\n/x "});
	/* A table that is missing in a window keeps its pane for later windows. */
	screen_show(&screen, 1, report_new("runq"));
	PLAY(&screen, {"", "not in this window"});
	screen_show(&screen, 2, make_names(later, more, 2));
	PLAY(&screen, {"", "not in this window"});
	screen_show(&screen, 0, make_cores(3, 0.5, 0.5));
	PLAY(&screen, {"", "not in this window"});
	assert_int_equal(screen.nr_panes, 3);
	screen_free(&screen);
}

/* A table without any value has no pane. */
TEST(test_dashes)
{
	const uint64_t unknown[] = {UINT64_MAX, UINT64_MAX}, known[] = {UINT64_MAX, 3};
	struct screen screen;

	screen = (struct screen){.interval_ns = NSEC_PER_SEC};
	screen_add(&screen, "runq");
	screen_add(&screen, "wake");
	assert_int_equal(screen_show(&screen, 0, make_names(names, unknown, 2)), 0);
	assert_int_equal(screen.nr_panes, 0);
	assert_int_equal(screen_show(&screen, 0, make_names(names, known, 2)), 0);
	assert_int_equal(screen.nr_panes, 1);
	/* An empty table gets a pane that shows that nothing happened. */
	assert_int_equal(screen_show(&screen, 1, make_names(names, known, 0)), 0);
	assert_int_equal(screen.nr_panes, 2);
	screen_free(&screen);
}

TEST(test_refused)
{
	struct err err = {.code = -EPERM, .what = "no \033[31m permission", .fix = "become root"};
	struct screen screen;

	fill(&screen);
	screen_refuse(&screen, 2, &err);
	PLAY(&screen, {"", "wake not measured (see notes)"}, {"\t\t", "no \\x1b[31m permission"},
	     {"", "become root"}, {BACK_TAB, "/a/db"});
	screen_refuse(&screen, 1, &err);
	PLAY(&screen, {"", "no longer measured", "/a/db"});
	screen_free(&screen);
}

/* Losses of earlier windows are not shown as losses of the next window. */
TEST(test_losses)
{
	static const struct {
		uint64_t total;
		const char *shows;
	} rows[] = {{17, "lost: overview odd edges 17"},
		    {19, "lost: overview odd edges 2"},
		    {19, "lost: nothing"}};
	struct screen screen;

	fill(&screen);
	for (size_t i = 0; i < 3; i++) {
		struct report *report = make_cores(2, 0.5, 0.5);

		value_u64(report_quality(report, M_odd_edges_total), rows[i].total);
		screen_show(&screen, 0, report);
		PLAY(&screen, {"", rows[i].shows, i < 2 ? "nothing" : "odd"});
	}
	screen_free(&screen);
}

/* The head of the screen shows the finding with the most lost time. The notes show all findings. */
TEST(test_findings)
{
	static const struct finding_rule rule = {"rule", "task", 0.01, "run this"};
	struct report *report = make_cores(2, 0.5, 0.5);
	struct screen screen;

	fill(&screen);
	PLAY(&screen, {"", "findings: none"});
	findings_begin(report);
	findings_add(report, FINDING(&rule, report->window_ns / 10), "a tenth \033[31m");
	findings_add(report, FINDING(&rule, report->window_ns / 2), "a half");
	screen_show(&screen, 0, report);
	PLAY(&screen, {"", "a half", "findings: none"}, {"", "+1 (see notes)", "a tenth"},
	     {"", "Next: run this"}, {BACK_TAB, "a tenth \\x1b[31m"}, {"", "run this"});
	screen_free(&screen);
}

TEST(test_hostile)
{
	static const char *const bad[] = {"\033]0;x\a\r\n", "\xff\xc3(", "\xe2\x80\xaegnp",
					  "世世世"};
	static const uint64_t one[] = {4, 3, 2, 1};
	struct screen screen;
	char *text;

	fill(&screen);
	screen_show(&screen, 1, make_names(bad, one, 4));
	type(&screen, "\t");
	text = draw(&screen, 24, 80);
	assert_non_null(strstr(text, "\\x1b]0;x\\x07\\x0d\\x0a"));
	assert_non_null(strstr(text, "\\xff\\xc3("));
	assert_non_null(strstr(text, "\\xe2\\x80\\xaegnp"));
	assert_null(strchr(text, '\033'));
	free(text);
	screen_free(&screen);
}

TEST(test_scrolling)
{
	const char *many[300];
	uint64_t nr[300];
	char text[300][8];
	struct screen screen;

	for (int i = 0; i < 300; i++) {
		snprintf(text[i], sizeof(text[i]), "/n%03d", i);
		many[i] = text[i];
		nr[i] = i;
	}
	fill(&screen);
	screen_show(&screen, 1, make_names(many, nr, 300));
	type(&screen, "\t");
	PLAY(&screen, {"", "/n000", "/n299"}, {DOWN, "/n001", "/n000"}, {END, "/n299", "/n000"},
	     {DOWN, "/n299"}, {UP, "/n298", "/n299"}, {PAGE_UP, NULL, "/n298"}, {HOME, "/n000"});
	screen_free(&screen);
}

/* A core's history has the latest window on the right, and draws a window without a value as -. */
TEST(test_history)
{
	struct screen screen;
	char *text, *row;

	fill(&screen);
	screen_show(&screen, 0, make_cores(1, 0.99, 0.99));
	screen_show(&screen, 0, make_cores(2, 0.5, 0.5));
	text = draw(&screen, 24, 100);
	row = line(text, 1);
	assert_non_null(strstr(row, "--▃█▅"));
	assert_true(!strcmp(row + strlen(row) - strlen("▃█▅"), "▃█▅"));
	free(row);
	row = line(text, 2);
	assert_true(!strcmp(row + strlen(row) - strlen("▃-▅"), "▃-▅"));
	free(row);
	free(text);
	text = draw(&screen, 24, 80);
	row = line(text, 1);
	assert_null(strstr(row, "▃█▅"));
	free(row);
	free(text);
	screen_free(&screen);
}

static int line_of(struct screen *screen, const char *what)
{
	char *text = draw(screen, 30, 100), *at = strstr(text, what);
	int line = at ? 0 : -1;

	for (char *p = text; at && p < at; p++)
		line += *p == '\n';
	free(text);
	return line;
}

/*
 * If the screen has room, the next panes are shown below the active pane. Panes do not move between
 * windows.
 */
TEST(test_stack)
{
	const char *many[40];
	uint64_t nr[40];
	struct screen screen;
	int groups, cores;

	screen = (struct screen){.interval_ns = NSEC_PER_SEC};
	screen.home = 1;
	screen_add(&screen, "overview");
	screen_add(&screen, "runq");
	assert_int_equal(screen_show(&screen, 0, make_cores(2, 0.25, 0.75)), 0);
	assert_int_equal(screen_show(&screen, 1, make_names(names, counts, 4)), 0);
	groups = line_of(&screen, "waits for a core by cgroup");
	cores = line_of(&screen, "cpus: source");
	assert_true(groups > 0 && cores == groups + 2 + 4 + 1);
	screen_show(&screen, 1, make_names(names, counts, 1));
	assert_int_equal(line_of(&screen, "cpus: source"), cores);
	for (size_t i = 0; i < 40; i++) {
		many[i] = "/one";
		nr[i] = i;
	}
	screen_show(&screen, 1, make_names(many, nr, 40));
	assert_int_equal(line_of(&screen, "cpus: source"), -1);
	/* If the active pane shrinks, the panes below it return after SCREEN_KEEP_ROWS windows. */
	for (int i = 0; i < SCREEN_KEEP_ROWS; i++) {
		assert_int_equal(line_of(&screen, "cpus: source"), -1);
		screen_show(&screen, 1, make_names(names, counts, 4));
	}
	assert_int_equal(line_of(&screen, "cpus: source"), cores);
	type(&screen, "1");
	assert_int_equal(line_of(&screen, "cpus: source"), groups);
	assert_true(line_of(&screen, "waits for a core by cgroup") > groups);
	screen_show(&screen, 1, make_names(names, counts, 4));
	assert_int_equal(line_of(&screen, "cpus: source"), groups);
	/* The notes are the last pane, so no pane is below the notes. */
	type(&screen, "9");
	assert_int_equal(line_of(&screen, "cpus: source"), groups);
	type(&screen, "3");
	assert_int_equal(line_of(&screen, "cpus: source"), -1);
	assert_true(line_of(&screen, "a note of the overview") > 0);
	screen_free(&screen);
}

TEST_MAIN()
