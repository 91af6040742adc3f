/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two Prometheus formats: exact text, exact seconds, escapes, what Accept asks for, rows by label. */
#include "view/prom.h"

#include "view/prom_accept.h"

#include "test.h"

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

static const char *render(enum prom_format format, const struct series *series)
{
	static struct text text;
	static struct prom prom;

	text.len = 0;
	prom = (struct prom){.format = format, .sink = collect, .arg = &text};
	prom_write(&prom, series);
	assert_int_equal(prom_end(&prom), 0);
	return text.data;
}

TEST(test_counter)
{
	struct series s;
	size_t row;

	assert_int_equal(series_init(&s, F_CPU, NULL, 0), 0);
	assert_string_equal(render(PROM_TEXT, &s), "");
	assert_string_equal(render(PROM_OPENMETRICS, &s), "# EOF\n");
	row = series_row(&s, "cpu=\"0\",context=\"task\"");
	/* Beyond 2^53 ns a double would lose the last digits. */
	series_words(&s, row)->u64 = 123456789012345678ULL;
	row = series_row(&s, "cpu=\"1\",context=\"task\"");
	series_words(&s, row)->u64 = 5000000000ULL;
	assert_string_equal(
		render(PROM_TEXT, &s),
		"# HELP subtick_cpu_seconds_total Time of each core by context; the contexts of a "
		"core sum to its measured time.\n"
		"# TYPE subtick_cpu_seconds_total counter\n"
		"subtick_cpu_seconds_total{cpu=\"0\",context=\"task\"} 123456789.012345678\n"
		"subtick_cpu_seconds_total{cpu=\"1\",context=\"task\"} 5\n");
	assert_string_equal(
		render(PROM_OPENMETRICS, &s),
		"# TYPE subtick_cpu_seconds counter\n"
		"# UNIT subtick_cpu_seconds seconds\n"
		"# HELP subtick_cpu_seconds Time of each core by context; the contexts of a core sum "
		"to its measured time.\n"
		"subtick_cpu_seconds_total{cpu=\"0\",context=\"task\"} 123456789.012345678\n"
		"subtick_cpu_seconds_total{cpu=\"1\",context=\"task\"} 5\n"
		"# EOF\n");
	series_free(&s);
}

TEST(test_histogram)
{
	static const uint64_t le[] = {1000, 1000000000, 2500000000};
	struct series s;
	union word *words;

	assert_int_equal(series_init(&s, F_RUNQ, le, 3), 0);
	words = series_words(&s, series_row(&s, "cgroup=\"/a\""));
	for (int i = 0; i < 3; i++)
		words[i].u64 = 10 * (i + 1);
	words[3].u64 = 31;
	words[4].u64 = 1500000000;
	assert_non_null(strstr(render(PROM_TEXT, &s),
			       "subtick_runqueue_latency_seconds_bucket{cgroup=\"/a\",le=\"0.000001\"} 10\n"
			       "subtick_runqueue_latency_seconds_bucket{cgroup=\"/a\",le=\"1\"} 20\n"
			       "subtick_runqueue_latency_seconds_bucket{cgroup=\"/a\",le=\"2.5\"} 30\n"
			       "subtick_runqueue_latency_seconds_bucket{cgroup=\"/a\",le=\"+Inf\"} 31\n"
			       "subtick_runqueue_latency_seconds_sum{cgroup=\"/a\"} 1.5\n"
			       "subtick_runqueue_latency_seconds_count{cgroup=\"/a\"} 31\n"));
	/* What is shown beside the labels is in every line, before le. */
	series_set_more(&s, 0, ",pod=\"web\"");
	assert_non_null(strstr(render(PROM_TEXT, &s), "_bucket{cgroup=\"/a\",pod=\"web\",le=\"2.5\"} 30\n"));
	assert_non_null(strstr(render(PROM_TEXT, &s), "_sum{cgroup=\"/a\",pod=\"web\"} 1.5\n"));
	/* OpenMetrics wants its canonical floats in le. */
	assert_non_null(strstr(render(PROM_OPENMETRICS, &s), "le=\"1.0\"} 20\n"));
	series_free(&s);
}

TEST(test_gauges)
{
	struct series s;

	assert_int_equal(series_init(&s, F_PROCSTAT_ERROR, NULL, 0), 0);
	series_words(&s, series_row(&s, "cpu=\"0\""))->f64 = -0.25;
	assert_non_null(strstr(render(PROM_OPENMETRICS, &s),
			       "# UNIT subtick_procstat_error_ratio ratio\n"));
	assert_non_null(strstr(render(PROM_TEXT, &s), "subtick_procstat_error_ratio{cpu=\"0\"} -0.25\n"));
	series_free(&s);
	assert_int_equal(series_init(&s, F_BUILD, NULL, 0), 0);
	series_words(&s, series_row(&s, "version=\"1\""))->u64 = 1;
	assert_non_null(strstr(render(PROM_TEXT, &s), "# TYPE subtick_build_info gauge\n"
						      "subtick_build_info{version=\"1\"} 1\n"));
	assert_non_null(strstr(render(PROM_OPENMETRICS, &s), "# TYPE subtick_build info\n"));
	series_free(&s);
	/* Without labels there are no braces. */
	assert_int_equal(series_init(&s, F_PROC_RSS, NULL, 0), 0);
	series_words(&s, series_row(&s, ""))->u64 = 4096;
	assert_non_null(strstr(render(PROM_TEXT, &s), "\nprocess_resident_memory_bytes 4096\n"));
	series_free(&s);
}

TEST(test_labels)
{
	char *labels = prom_labels("a", "x\\y\"z\nw", "b", "\xff<script>", NULL);

	assert_string_equal(labels, "a=\"x\\\\y\\\"z\\nw\",b=\"\xef\xbf\xbd<script>\"");
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
		/* What Prometheus 2.42 and 3.5 ask for where native histograms are enabled. */
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
	/* Not offered: the next best. */
	assert_int_equal(prom_accept(PROTOBUF ",application/openmetrics-text;q=0.5,text/plain;q=0.4",
				     false),
			 PROM_OPENMETRICS);
	assert_int_equal(prom_accept(PROTOBUF, false), PROM_TEXT);
}

/* Rows keep their values under removal and growth; a copy survives both. */
TEST(test_rows)
{
	struct series s, copy = {0};
	char labels[32];

	assert_int_equal(series_init(&s, F_LOSS, NULL, 0), 0);
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(labels, sizeof(labels), "kind=\"%u\"", i);
		series_words(&s, series_row(&s, labels))->u64 = i;
	}
	assert_int_equal(s.nr, 1000);
	assert_int_equal(series_copy(&copy, &s), 0);
	for (unsigned int i = 0; i < 1000; i += 2) {
		snprintf(labels, sizeof(labels), "kind=\"%u\"", i);
		series_remove(&s, series_find(&s, labels));
	}
	assert_int_equal(s.nr, 500);
	for (unsigned int i = 0; i < 1000; i++) {
		size_t row;

		snprintf(labels, sizeof(labels), "kind=\"%u\"", i);
		assert_string_equal(copy.labels[i], labels);
		assert_int_equal(series_words(&copy, i)->u64, i);
		row = series_find(&s, labels);
		assert_true(i % 2 ? row != SERIES_NONE : row == SERIES_NONE);
		if (i % 2)
			assert_int_equal(series_words(&s, row)->u64, i);
	}
	series_copy_free(&copy);
	series_bury(&s);
	series_free(&s);
}

/* More than one block, to test the boundaries between blocks. */
TEST(test_blocks)
{
	struct series s;
	const char *text;
	char labels[64];
	size_t lines = 0;

	assert_int_equal(series_init(&s, F_LOSS, NULL, 0), 0);
	for (unsigned int i = 0; i < 3000; i++) {
		snprintf(labels, sizeof(labels), "collector=\"c\",kind=\"%u\"", i);
		series_words(&s, series_row(&s, labels))->u64 = i;
	}
	text = render(PROM_TEXT, &s);
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		unsigned int kind, value;

		if (sscanf(line, "subtick_losses_total{collector=\"c\",kind=\"%u\"} %u\n", &kind,
			   &value) != 2)
			continue;
		assert_int_equal(kind, value);
		lines++;
	}
	assert_int_equal(lines, 3000);
	series_free(&s);
}

TEST_MAIN()
