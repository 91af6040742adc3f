/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the two text formats of Prometheus: escapes, large pages, and the choice of the format by
 * the Accept header. The golden test contains the exact text of every metric family.
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

TEST(test_empty)
{
	begin(F_CPU, NULL, 0);
	assert_string_equal(render(PROM_TEXT), "");
	assert_string_equal(render(PROM_OPENMETRICS), "# EOF\n");
	ADD(LABEL("cpu", "2"), LABEL("context", "task"))->shown = 2;
	assert_string_equal(render(PROM_TEXT), "");
	series_free(&table);
}

TEST(test_labels)
{
	/* Terminal sequences are escaped: CSI as one byte, as ESC [ and as U+009B. */
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
	/* If the exporter lacks the preferred format, the format with the next weight is used. */
	assert_int_equal(prom_accept(PROTOBUF ",application/openmetrics-text;q=0.5,text/plain;q=0.4",
				     false),
			 PROM_OPENMETRICS);
	assert_int_equal(prom_accept(PROTOBUF, false), PROM_TEXT);
}

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
