/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests output to failing streams, and of several reports. Expected output is in tests/golden. */
#include "report_rows.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "report/findings.h"
#include "view/view.h"

static struct report *make(double busy, const char *source)
{
	struct report *report = report_begin("load", 1, 1000000000, source);
	struct table *table = report_table(report, "cpus", NULL);

	table_col(table, M_CPU);
	table_col(table, M_BUSY_RATIO);
	table_row(table);
	value_u64(table_cell(table, 0, 0), 0);
	value_f64(table_cell(table, 0, 1), busy);
	report_note(report, "a note");
	return report;
}

static int write_to(FILE *out, enum view_format format)
{
	struct view view = {.format = format, .out = out};
	struct report *report = make(0.5, "bpf");
	int rc = view_write(&view, report);

	assert_int_equal(view.written, rc ? 0 : 1);
	report_free(report);
	return rc;
}

TEST(test_reader_gone)
{
	signal(SIGPIPE, SIG_IGN);
	for (enum view_format format = VIEW_TEXT; format <= VIEW_CSV; format++) {
		int fds[2];
		FILE *out;

		assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
		out = fdopen(fds[1], "w");
		assert_non_null(out);
		assert_int_equal(write_to(out, format), 0);
		close(fds[0]);
		assert_int_equal(write_to(out, format), -EPIPE);
		assert_int_not_equal(write_to(out, format), 0);
		fclose(out);
	}
}

TEST(test_disk_full)
{
	for (enum view_format format = VIEW_TEXT; format <= VIEW_CSV; format++) {
		FILE *out = fopen("/dev/full", "w");

		if (!out)
			skip();
		assert_int_equal(write_to(out, format), -ENOSPC);
		fclose(out);
	}
	/* The stream is unbuffered, so that every write fails, and not only the flush. */
	for (enum view_format format = VIEW_TEXT; format <= VIEW_CSV; format++) {
		FILE *out = fopen("/dev/full", "w");

		setvbuf(out, NULL, _IONBF, 0);
		assert_int_equal(write_to(out, format), -ENOSPC);
		fclose(out);
	}
}

static char *write_many(enum view_format format, unsigned int nr, unsigned int change_at)
{
	char *text = NULL;
	size_t size;
	struct view view = {.format = format, .out = open_memstream(&text, &size)};

	assert_non_null(view.out);
	for (unsigned int i = 0; i < nr; i++) {
		struct report *report = make(i / 100.0, i < change_at ? "bpf" : "perf");

		assert_int_equal(view_write(&view, report), 0);
		report_free(report);
	}
	assert_int_equal(view.written, nr);
	fclose(view.out);
	return text;
}

TEST(test_headings)
{
	char *text = write_many(VIEW_TEXT, 41, 1000);

	/*
	 * The heading is printed before reports 1, 21 and 41. All reports have the same note, which
	 * is printed once.
	 */
	assert_int_equal(times_in(text, "source bpf"), 3);
	assert_int_equal(times_in(text, "CPU"), 3);
	assert_int_equal(times_in(text, "a note"), 1);
	assert_int_equal(times_in(text, "%\n"), 41);
	free(text);

	text = write_many(VIEW_TEXT, 10, 5);
	assert_int_equal(times_in(text, "source bpf"), 1);
	assert_int_equal(times_in(text, "source perf"), 1);
	assert_non_null(strstr(strstr(text, "source perf"), "5.0%"));
	free(text);

	text = write_many(VIEW_CSV, 10, 5);
	assert_int_equal(times_in(text, "time_unix_ns"), 1);
	assert_int_equal(times_in(text, "\n"), 11);
	free(text);
}

/* Events with names of different lengths do not repeat the heading. */
TEST(test_event_headings)
{
	static const char *const names[] = {"kworker/0:0", "sh", "cc1", "kworker/0:1", "a", "longer/name",
					    "b", "the-longest-of-all"};
	char *text = NULL, *line;
	size_t size;
	struct view view = {.format = VIEW_TEXT, .out = open_memstream(&text, &size)};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct report *report = report_new("runq");
		struct table *table = report_table(report, "waits", NULL);
		size_t name = table_col(table, M_COMM), wait = table_col(table, M_AVG_NS), row;

		report->time_unix_ns = (100 + i / 2) * 1000000000ULL;
		row = table_row(table);
		value_str(table_cell(table, row, name), names[i]);
		value_u64(table_cell(table, row, wait), 1000000 * (i + 1));
		assert_int_equal(view_write(&view, report), 0);
		report_free(report);
	}
	fclose(view.out);
	/*
	 * The heading is printed before the first event, and before the event whose name does not
	 * fit into the column.
	 */
	assert_int_equal(times_in(text, "command"), 2);
	/*
	 * Events 3, 5 and 7 are the first of their second, so the time is printed, without a new
	 * heading.
	 */
	assert_int_equal(times_in(text, ":41\n") + times_in(text, ":42\n") + times_in(text, ":43\n"), 3);
	/* A short name is padded to the width of the heading. */
	line = strstr(text, "\nsh ");
	assert_non_null(line);
	assert_int_equal(strcspn(line + 1, "\n"), strlen("kworker/0:0  1.00 ms"));
	free(text);
}

TEST(test_csv_header_again)
{
	char *text = NULL;
	size_t size;
	struct view view = {.format = VIEW_CSV, .out = open_memstream(&text, &size)};
	struct report *report = make(0.5, "bpf");

	assert_int_equal(view_write(&view, report), 0);
	value_u64(report_quality(report, M_torn_total), 3);
	assert_int_equal(view_write(&view, report), 0);
	report_free(report);
	fclose(view.out);
	assert_string_equal(text,
			    "time_unix_ns,window_ns,source,cpu,busy_ratio\n"
			    "1,1000000000,bpf,0,0.5\n"
			    "time_unix_ns,window_ns,source,cpu,busy_ratio,quality.torn_total\n"
			    "1,1000000000,bpf,0,0.5,3\n");
	free(text);
}

/*
 * In CSV a name must not look like a spreadsheet formula, so a leading "-" is escaped. Negative
 * numbers are not escaped.
 */
TEST(test_csv_formula)
{
	static const char *const names[][2] = {
		{"=1+1", "\\x3d1+1"},
		{"+a", "\\x2ba"},
		{"-a", "\\x2da"},
		{"@SUM(A1)", "\\x40SUM(A1)"},
		{"\t=a", "\\x09=a"},
		{"\r=a", "\\x0d=a"},
		{"=a,b", "\"\\x3da,b\""},
		{"a=b", "a=b"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct report *report = make(-0.5, names[i][0]);
		char *text = text_of((struct view){.format = VIEW_CSV}, report), expected[64];

		report_free(report);
		snprintf(expected, sizeof(expected), "\n1,1000000000,%s,0,-0.5\n", names[i][1]);
		assert_string_equal(strchr(text, '\n'), expected);
		free(text);
	}
}

/* Text shows the three largest parts of a sum. JSON, CSV and --wide show all parts. */
TEST(test_parts)
{
	static const struct {
		uint64_t ns[4];
		const char *text;
	} rows[] = {
		{{10, 57, 0, 33}, "quota 57%, mixed 33%, same 10%\n"},
		{{1, 0, 0, 0}, "same 100%\n"},
		{{1, 0, 999999, 0}, "others 100%\n"},
		{{0, 0, 0, 0}, "-\n"},
		{{4, 3, 2, 1}, "same 40%, quota 30%, others 20%\n"},
	};
	static const char *const titles[] = {"same", "quota", "others", "mixed"};

	for (int wide = 0; wide < 2; wide++) {
		struct report *report = make(0.5, "bpf");
		struct table *table = report_table(report, "parts", NULL);
		char *text;

		table_col(table, M_CPU);
		table->parts_first = 1;
		for (size_t i = 0; i < 4; i++)
			table_col_as(table, M_SUM_NS, titles[i], titles[i]);
		table->parts_end = 5;
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			table_row(table);
			for (size_t j = 0; j < 4; j++)
				value_u64(table_cell(table, i, j + 1), rows[i].ns[j]);
		}
		text = text_of((struct view){.format = VIEW_TEXT, .wide = wide}, report);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			assert_int_equal(!!strstr(text, rows[i].text), !wide);
		assert_int_equal(!!strstr(text, "same"), true);
		assert_int_equal(!!strstr(text, "mostly"), !wide);
		assert_int_equal(!!strstr(text, "1.00 ms"), wide);
		free(text);
		report_free(report);
	}
}

/*
 * Text output shortens container paths, except with --wide in a pipe. JSON and CSV have whole
 * paths.
 */
TEST(test_long_names)
{
	static const char path[] = "/kubepods.slice/kubepods-burstable.slice/"
				   "kubepods-burstable-pod9b2a1c3d_4e5f_6071_8293_a4b5c6d7e8f9.slice/"
				   "cri-containerd-0123456789abcdef0123456789abcdef"
				   "0123456789abcdef0123456789abcdef.scope";
	static const struct {
		struct view view;
		bool whole;
	} rows[] = {
		{{.format = VIEW_TEXT}, false},
		{{.format = VIEW_TEXT, .wide = true}, true},
		{{.format = VIEW_TEXT, .wide = true, .width = 120}, false},
		{{.format = VIEW_JSON}, true},
		{{.format = VIEW_CSV}, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct report *report = report_begin("runq", 0, 0, "sched_info");
		struct table *table = report_table(report, "groups", NULL);
		char *text;

		table_col(table, M_SHOWN);
		table_row(table);
		value_str(table_cell(table, 0, 0), path);
		text = text_of(rows[i].view, report);
		assert_int_equal(!!strstr(text, path), rows[i].whole);
		assert_non_null(strstr(text, "7e8f9.slice/cri-"));
		for (char *line = strtok(text, "\n"); line && !rows[i].whole; line = strtok(NULL, "\n"))
			assert_true(strlen(line) < 130);
		free(text);
		report_free(report);
	}
}

/*
 * Text output explains each loss of the window. The loss counters count since the start of the
 * measurement.
 */
TEST(test_losses)
{
	static const uint64_t totals[] = {12, 12, 15, 1};
	static const char *const expected[] = {
		"\nlost: without a slot 12: waits of groups that got no slot; they are in the row "
		"(other)\n",
		NULL, "\nlost: without a slot 3: waits", "\nlost: without a slot 1: waits"};
	struct view view = {.format = VIEW_TEXT};

	for (size_t i = 0; i < 4; i++) {
		struct report *report = report_new("runq");
		char *text = NULL;
		size_t size;

		value_u64(report_quality(report, M_table_full_total), totals[i]);
		view.out = open_memstream(&text, &size);
		assert_int_equal(view_write(&view, report), 0);
		fclose(view.out);
		assert_true(expected[i] ? !!strstr(text, expected[i]) : !strstr(text, "lost"));
		free(text);
		report_free(report);
	}
}

/* Text output shows five findings and names the option that shows the other findings. */
TEST(test_more_findings)
{
	static const struct finding_rule rule = {.name = "rule", .cause = "task", .next = "look"};
	static const struct {
		uint32_t top;
		size_t shown;
		const char *rest;
	} rows[] = {
		{0, 5, "and 2 findings with less lost time: --json has them\n"},
		{10, 5, "and 2 findings with less lost time: --top 0 shows them\n"},
		{VIEW_TOP_ALL, 7, NULL},
	};
	struct report *report = report_new("runq");

	report->window_ns = 1000;
	findings_begin(report);
	for (uint64_t i = 1; i <= 7; i++)
		findings_add(report, FINDING(&rule, i), "lost");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = text_of((struct view){.format = VIEW_TEXT, .top = rows[i].top}, report);

		assert_int_equal(times_in(text, "finding: "), rows[i].shown);
		assert_true(rows[i].rest ? !!strstr(text, rows[i].rest) : !strstr(text, "less time"));
		free(text);
	}
	report_free(report);
}

TEST_MAIN()
