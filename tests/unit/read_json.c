/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the reading of reports from JSON. A report that subtick wrote is reproduced unchanged when
 * it is written again. A report of another program is refused, or its values are preserved.
 */
#include "report_rows.h"

#include <fcntl.h>
#include <unistd.h>

#include "report/report.h"
#include "view/view.h"

static char *to_json(const struct report *report)
{
	return text_of((struct view){.format = VIEW_JSON}, report);
}

static struct report *read_one(const char *text)
{
	struct report *report = NULL;
	struct err err = {0};
	size_t used = 0;

	assert_int_equal(report_read_json(text, strlen(text), &report, &used, &err), 0);
	assert_non_null(report);
	assert_true(used > 0 && used <= strlen(text));
	return report;
}

static void refused(const char *text, const char *why)
{
	struct report *report = NULL;
	struct err err = {0};
	size_t used = 0;

	assert_int_equal(report_read_json(text, strlen(text), &report, &used, &err), -EINVAL);
	assert_null(report);
	if (!strstr(err.what, why))
		fail_msg("%s: said %s, expected %s", text, err.what, why);
}

TEST(test_round_trip)
{
	static const char *const texts[] = {
		"{\"schema\":\"subtick.load/1\",\"time_unix_ns\":1700000000123456789,\"window_ns\":1000123456,\"source\":\"bpf\",\"cpus\":[{\"cpu\":0,\"online\":true,\"busy_ratio\":0.389699,\"compare\":{\"procstat_busy_ratio\":0.5,\"schedstat_busy_ratio\":null}},{\"cpu\":1,\"online\":false,\"busy_ratio\":null,\"compare\":{\"procstat_busy_ratio\":null,\"schedstat_busy_ratio\":null}}],\"quality\":{\"torn_total\":0,\"steal_known\":true},\"notes\":[\"a "
		"note\"]}\n",
		"{\"schema\":\"subtick.runq/1\",\"time_unix_ns\":1,\"window_ns\":null,\"source\":null,"
		"\"hierarchy\":\"v1\",\"novel_field_hz\":2500000000,\"groups\":[{\"cgroup\":\"/a<b>\\u001B\","
		"\"cgroup_id\":\"18446744073709551615\",\"p99_ns\":3.5,\"p999_ns\":4000000,"
		"\"le\":[{\"le_ns\":10,\"count\":3},{\"le_ns\":null,\"count\":4}]}],\"blame\":[],"
		"\"quality\":{},\"notes\":[]}\n",
		"{\"schema\":\"subtick.crit/1\",\"time_unix_ns\":5,\"window_ns\":7,\"source\":\"bpf\","
		"\"unit\":\"cycles\",\"delta\":-12.0,\"ops\":[{\"op\":\"irq\",\"median\":3,"
		"\"percentiles\":{\"p50\":0,\"p999\":9}}],\"quality\":{},\"notes\":[]}\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct report *report = read_one(texts[i]);
		char *again = to_json(report);

		assert_string_equal(again, texts[i]);
		free(again);
		report_free(report);
	}
}

TEST(test_units)
{
	struct report *report = read_one(
		"{\"schema\":\"subtick.new/1\",\"t\":[{\"x_ns\":1,\"y_ratio\":0.5,\"z_total\":3,\"w\":4,"
		"\"p5_ns\":1,\"p9999_ns\":2,\"v_bytes\":1,\"u_hz\":1,\"busy_ratio\":1}]}");
	static const enum unit units[] = {UNIT_NS, UNIT_RATIO, UNIT_COUNT, UNIT_TEXT, UNIT_NS,
					  UNIT_NS, UNIT_BYTES, UNIT_HZ,	   UNIT_RATIO};
	const struct table *t = report->tables[0];

	assert_int_equal(t->nr_cols, sizeof(units) / sizeof(units[0]));
	for (size_t i = 0; i < t->nr_cols; i++)
		assert_int_equal(t->cols[i].metric->unit, units[i]);
	assert_string_equal(t->cols[4].title, "p5");
	assert_string_equal(t->cols[5].title, "p99.99");
	assert_ptr_equal(t->cols[8].metric, metric_get(M_BUSY_RATIO));
	report_free(report);
}

/* If two metrics have the same key, the unit named in the report determines the metric. */
TEST(test_named_unit)
{
	struct report *report = read_one("{\"schema\":\"subtick.crit/1\",\"unit\":\"cycles\","
					 "\"ops\":[{\"novel\":1,\"p99\":2}]}");

	assert_int_equal(report->tables[0]->cols[0].metric->unit, UNIT_CYCLES);
	assert_int_equal(report->tables[0]->cols[1].metric->unit, UNIT_CYCLES);
	assert_string_equal(report->tables[0]->cols[1].title, "p99");
	report_free(report);
}

TEST(test_ragged)
{
	struct report *report =
		read_one("{\"schema\":\"subtick.a/1\",\"t\":[{\"a\":1},{\"b\":-2},{}]}");

	expect_json(report, "'t':[{'a':1,'b':null},{'a':null,'b':-2.0},{'a':null,'b':null}]");
	report_free(report);
}

/*
 * Keys in reports of other programs may contain dots. The columns of one object, such as a.b and
 * a.d, may be separated by other columns. The name of an object may equal another key of the
 * report, or may need escapes in JSON. Writing, reading and writing a report again gives the same
 * JSON.
 */
TEST(test_foreign_objects)
{
	static const char *const texts[] = {
		"{\"schema\":\"subtick.x/1\",\"a.b\":1,\"c\":2,\"a.d\":3}",
		"{\"schema\":\"subtick.x/1\",\"a.b\":1,\"c.d\":2,\"a.e\":3,\"c.f\":4}",
		"{\"schema\":\"subtick.x/1\",\"a\\\"\\u0001.b\":1}",
		"{\"schema\":\"subtick.x/1\",\"quality.b\":1,\"notes.b\":1,\"source.b\":1}",
		"{\"schema\":\"subtick.x/1\",\"a.b\":1,\"a\":[{\"k\":2}]}",
		"{\"schema\":\"subtick.x/1\",\"a\":1,\"a.b\":2,\"a..b\":3,\".a\":4,\"b.\":5}",
		"{\"schema\":\"subtick.x/1\",\"rows\":[{\"a\":{\"b\":1},\"c\":2},{\"a\":{\"d\":3}}]}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct report *first = read_one(texts[i]), *again;
		char *one = to_json(first), *two;

		again = read_one(one);
		two = to_json(again);
		assert_string_equal(one, two);
		assert_int_equal(first->fields->nr_cols, again->fields->nr_cols);
		for (size_t col = 0; col < first->fields->nr_cols; col++)
			assert_true(table_find(again->fields, first->fields->cols[col].key) >= 0);
		assert_int_equal(first->nr_tables, again->nr_tables);
		report_free(first);
		report_free(again);
		free(one);
		free(two);
	}
}

TEST(test_lines)
{
	static const char text[] = " {\"schema\":\"subtick.a/1\"}\n{\"schema\":\"subtick.b/1\"}\n \n";
	size_t at = 0, used, size = strlen(text);
	struct report *report;
	struct err err = {0};

	assert_int_equal(report_read_json(text, size, &report, &used, &err), 0);
	assert_string_equal(report->command, "a");
	report_free(report);
	at += used;
	assert_int_equal(report_read_json(text + at, size - at, &report, &used, &err), 0);
	assert_string_equal(report->command, "b");
	report_free(report);
	at += used;
	assert_int_equal(report_read_json(text + at, size - at, &report, &used, &err), -ENODATA);
}

/* The file that `wake --points` writes can be read as a report. */
TEST(test_points)
{
	struct report *report = read_one("{\"schema\":\"subtick.wake.points/1\","
					 "\"points\":[{\"silent_ns\":5}]}");

	assert_string_equal(report->command, "wake.points");
	assert_int_equal(report->nr_tables, 1);
	report_free(report);
}

TEST(test_refusals)
{
	static const char *const bad[][2] = {
		{"x", "not JSON"},
		{"[]", "schema"},
		{"{}", "schema"},
		{"{\"schema\":1}", "schema"},
		{"{\"schema\":\"subtick./1\"}", "schema"},
		{"{\"schema\":\"subtick..points/1\"}", "schema"},
		{"{\"schema\":\"subtick.wake./1\"}", "schema"},
		{"{\"schema\":\"subtick.a/2\"}", "schema"},
		{"{\"schema\":\"subtick.A<b>/1\"}", "schema"},
		{"{\"schema\":\"other.a/1\"}", "schema"},
		{"{\"schema\":\"subtick.a/1\",\"t\":[1]}", "list"},
		{"{\"schema\":\"subtick.a/1\",\"notes\":[1]}", "note"},
		{"{\"schema\":\"subtick.a/1\",\"schema\":\"subtick.a/1\"}", "duplicate"},
	};
	char deep[256] = "{\"schema\":\"subtick.a/1\",\"x\":", key[400];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refused(bad[i][0], bad[i][1]);
	for (int i = 0; i < 9; i++)
		strcat(deep, "{\"x\":");
	strcat(deep, "1}}}}}}}}}}");
	refused(deep, "deep");
	snprintf(key, sizeof(key), "{\"schema\":\"subtick.a/1\",\"%0200d\":1}", 0);
	refused(key, "key");
}

TEST(test_many_columns)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fputs("{\"schema\":\"subtick.a/1\",\"t\":[{\"k\":1", out);
	for (int i = 0; i < 600; i++)
		fprintf(out, ",\"k%d\":1", i);
	fputs("}]}", out);
	fclose(out);
	refused(text, "columns");
	free(text);
}

TEST_MAIN()
