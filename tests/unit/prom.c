/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the two text formats of Prometheus: exact text, exact seconds, escapes, and the format
 * chosen by the Accept header.
 */
#include "view/prom.h"

#include "series_table.h"

struct text {
	char data[262144];
	size_t len;
};

static int collect(void *arg, const char *data, size_t len)
{
	struct text *text = arg;

	assert_true(text->len + len < sizeof(text->data));
	memcpy(text->data + text->len, data, len);
	text->len += len;
	text->data[text->len] = '\0';
	return 0;
}

static const char *render(enum prom_format format)
{
	static struct text text;
	static struct prom prom;

	text.len = 0;
	text.data[0] = 0;
	prom = (struct prom){.format = format, .sink = collect, .arg = &text};
	prom_write(&prom, &s, &table);
	assert_int_equal(prom_end(&prom), 0);
	return text.data;
}

TEST(test_counter)
{
	begin(F_CPU, NULL, 0);
	assert_string_equal(render(PROM_TEXT), "");
	assert_string_equal(render(PROM_OPENMETRICS), "# EOF\n");
	/* Beyond 2^53 ns a double would lose the last digits. */
	ADD(LABEL("cpu", "0"), LABEL("context", "task"))->words[0].u64 = 123456789012345678ULL;
	/* A value that is not marked as shown has no sample on the page. */
	ADD(LABEL("cpu", "2"), LABEL("context", "task"))->shown = 2;
	ADD(LABEL("cpu", "1"), LABEL("context", "task"))->words[0].u64 = 5000000000ULL;
	assert_string_equal(
		render(PROM_TEXT),
		"# HELP subtick_cpu_seconds_total Time of each core by context; the contexts of a "
		"core sum to its measured time.\n"
		"# TYPE subtick_cpu_seconds_total counter\n"
		"subtick_cpu_seconds_total{cpu=\"0\",context=\"task\"} 123456789.012345678\n"
		"subtick_cpu_seconds_total{cpu=\"1\",context=\"task\"} 5\n");
	assert_string_equal(
		render(PROM_OPENMETRICS),
		"# TYPE subtick_cpu_seconds counter\n"
		"# UNIT subtick_cpu_seconds seconds\n"
		"# HELP subtick_cpu_seconds Time of each core by context; the contexts of a core sum "
		"to its measured time.\n"
		"subtick_cpu_seconds_total{cpu=\"0\",context=\"task\"} 123456789.012345678\n"
		"subtick_cpu_seconds_total{cpu=\"1\",context=\"task\"} 5\n"
		"# EOF\n");
	series_free(&table);
}

TEST(test_histogram)
{
	static const uint64_t le[] = {1000, 1000000000, 2500000000};
	union word *words;

	begin(F_RUNQ, le, 3);
	words = ADD(LABEL("cgroup", "/a"))->words;
	for (int i = 0; i < 3; i++)
		words[i].u64 = 10 * (i + 1);
	words[3].u64 = 31;
	words[4].u64 = 1500000000;
	assert_non_null(strstr(render(PROM_TEXT),
			       "subtick_runqueue_latency_seconds_bucket{cgroup=\"/a\",le=\"0.000001\"} 10\n"
			       "subtick_runqueue_latency_seconds_bucket{cgroup=\"/a\",le=\"1\"} 20\n"
			       "subtick_runqueue_latency_seconds_bucket{cgroup=\"/a\",le=\"2.5\"} 30\n"
			       "subtick_runqueue_latency_seconds_bucket{cgroup=\"/a\",le=\"+Inf\"} 31\n"
			       "subtick_runqueue_latency_seconds_sum{cgroup=\"/a\"} 1.5\n"
			       "subtick_runqueue_latency_seconds_count{cgroup=\"/a\"} 31\n"));
	/* Extra labels are in every line, before le. */
	assert_true(series_set_names(&table, table.rows[0], &(struct label)LABEL("pod", "web"), 1));
	assert_non_null(strstr(render(PROM_TEXT), "_bucket{cgroup=\"/a\",pod=\"web\",le=\"2.5\"} 30\n"));
	assert_non_null(strstr(render(PROM_TEXT), "_sum{cgroup=\"/a\",pod=\"web\"} 1.5\n"));
	/* OpenMetrics requires canonical floating-point numbers such as 1.0 in label le. */
	assert_non_null(strstr(render(PROM_OPENMETRICS), "le=\"1.0\"} 20\n"));
	series_free(&table);
}

TEST(test_gauges)
{

	begin(F_PROCSTAT_ERROR, NULL, 0);
	ADD(LABEL("cpu", "0"))->words[0].f64 = -0.25;
	assert_non_null(strstr(render(PROM_OPENMETRICS),
			       "# UNIT subtick_procstat_error_ratio ratio\n"));
	assert_non_null(strstr(render(PROM_TEXT), "subtick_procstat_error_ratio{cpu=\"0\"} -0.25\n"));
	series_free(&table);
	begin(F_BUILD, NULL, 0);
	ADD(LABEL("version", "1"))->words[0].u64 = 1;
	assert_non_null(strstr(render(PROM_TEXT), "# TYPE subtick_build_info gauge\n"
						      "subtick_build_info{version=\"1\"} 1\n"));
	assert_non_null(strstr(render(PROM_OPENMETRICS), "# TYPE subtick_build info\n"));
	series_free(&table);
	/* Without labels there are no braces. */
	begin(F_PROC_RSS, NULL, 0);
	add_pairs(NULL, 0)->words[0].u64 = 4096;
	assert_non_null(strstr(render(PROM_TEXT), "\nprocess_resident_memory_bytes 4096\n"));
	series_free(&table);
}

/*
 * A row has several samples, and only those marked as shown are on the page. Labels with the extra
 * names come last.
 */
TEST(test_parts)
{
	static const char *const states[] = {"C1", "\"\n", "C6"};
	struct series_row *row;

	begin(F_RUNQ_IDLE_WAITS, NULL, 0);
	s.at = 1;
	s.bit = 2;
	s.part_name = "state";
	s.parts = states;
	s.nr_parts = 3;
	row = ADD(LABEL("cgroup", "/a"));
	assert_string_equal(render(PROM_TEXT), "");
	for (int i = 0; i < 4; i++)
		row->words[i].u64 = 10 + i;
	row->shown = 1 << 2 | 1 << 3;
	assert_true(series_set_names(&table, row, &(struct label)LABEL("pod", "web"), 1));
	assert_non_null(strstr(render(PROM_TEXT),
			       "subtick_runqueue_idle_waits_total{cgroup=\"/a\",state=\"C1\",pod=\"web\"} 11\n"
			       "subtick_runqueue_idle_waits_total{cgroup=\"/a\",state=\"\\\"\\n\",pod=\"web\"} 12\n"));
	assert_null(strstr(render(PROM_TEXT), "C6"));
	series_free(&table);
}

TEST(test_labels)
{
	/*
	 * Names with terminal control sequences are escaped: CSI as one byte, as ESC [ and as
	 * U+009B.
	 */
	static const struct label pairs[] = {LABEL("a", "x\\y\"z\nw\x1b[2J"),
					     LABEL("b", "\xff<script>\x9b\xc2\x9b")};
	struct labels *labels = labels_new(pairs, 2);

	assert_string_equal(labels->data, "a=\"x\\\\y\\\"z\\\\x0aw\\\\x1b[2J\",b=\"\\\\xff<script>\\\\x9b\\\\xc2\\\\x9b\"");
	assert_true(labels_equal(labels, pairs, 2));
	assert_true(labels_equal(labels, (struct label[]){pairs[0], LABEL("b", "\\xff<script>\\x9b\\xc2\\x9b")}, 2));
	assert_false(labels_equal(labels, pairs, 1));
	assert_false(labels_equal(NULL, pairs, 2));
	assert_true(labels_equal(NULL, NULL, 0));
	free(labels);
}

#define PROTOBUF \
	"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"

TEST(test_accept)
{
	static const struct {
		const char *accept;
		enum prom_format format;
	} rows[] = {
		{NULL, PROM_TEXT},
		{"", PROM_TEXT},
		{"*/*", PROM_TEXT},
		{"text/plain", PROM_TEXT},
		{"application/openmetrics-text", PROM_OPENMETRICS},
		{"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
		 "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		 PROM_OPENMETRICS},
		{"application/openmetrics-text; version=1.0.0; q=0.5, text/plain; q=0.9", PROM_TEXT},
		{"application/openmetrics-text;version=0.0.1", PROM_TEXT},
		{"application/openmetrics-text;q=0", PROM_TEXT},
		{"APPLICATION/OpenMetrics-Text", PROM_OPENMETRICS},
		{"application/openmetrics-textual", PROM_TEXT},
		{";;;,,;q=", PROM_TEXT},
		{"text/plain;a=\"q=0\",application/openmetrics-text;q=0.1", PROM_TEXT},
		/* Accept header of Prometheus 2.42 and 3.5 with native histograms enabled. */
		{PROTOBUF ",application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;"
			  "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		 PROM_PROTOBUF},
		{PROTOBUF ";q=0.6,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
			  "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;"
			  "escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
		 PROM_PROTOBUF},
		{PROTOBUF ";q=0.5,text/plain;q=0.6", PROM_TEXT},
		{PROTOBUF ";q=0", PROM_TEXT},
		{"application/vnd.google.protobuf", PROM_TEXT},
		{"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text",
		 PROM_TEXT},
		{"application/vnd.google.protobuf;proto=other.MetricFamily;encoding=delimited", PROM_TEXT},
		{"application/vnd.google.protobuf;encoding=delimited;"
		 "proto=\"io.prometheus.client.MetricFamily\"",
		 PROM_PROTOBUF},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (prom_accept(rows[i].accept, true) != rows[i].format)
			fail_msg("%s", rows[i].accept);
	/* The best format is not offered: the next one is chosen. */
	assert_int_equal(prom_accept(PROTOBUF ",application/openmetrics-text;q=0.5,text/plain;q=0.4",
				     false),
			 PROM_OPENMETRICS);
	assert_int_equal(prom_accept(PROTOBUF, false), PROM_TEXT);
}

/* The page is larger than one block of memory, to test the boundaries between blocks. */
TEST(test_blocks)
{
	const char *text;
	char kind[16];
	size_t lines = 0;

	begin(F_LOSS, NULL, 0);
	for (unsigned int i = 0; i < 3000; i++) {
		snprintf(kind, sizeof(kind), "%u", i);
		ADD(LABEL("collector", "c"), LABEL("kind", kind))->words[0].u64 = i;
	}
	text = render(PROM_TEXT);
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		unsigned int number, value;

		if (sscanf(line, "subtick_losses_total{collector=\"c\",kind=\"%u\"} %u\n", &number,
			   &value) != 2)
			continue;
		assert_int_equal(number, value);
		lines++;
	}
	assert_int_equal(lines, 3000);
	series_free(&table);
}

TEST_MAIN()
