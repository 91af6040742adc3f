/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests how reports are built: order, types, limits, and the failure of every allocation. */
#include "test.h"
#include "oom.h"

#include "report/report.h"
#include "view/view.h"

TEST(test_str_from_itself)
{
	struct value value = {0};

	value_str(&value, "name");
	value_str(&value, value.str);
	assert_string_equal(value.str, "name");
	value_null(&value);
}

TEST(test_out_of_range)
{
	struct report *report = report_new("load");
	struct table *table = report_table(report, "cpus", NULL);
	const size_t bad[] = {1, 2, SIZE_MAX};

	assert_true(table_row(table) == SIZE_MAX);
	assert_int_equal(table_col(table, M_CPU), 0);
	assert_true(table_col(table, METRIC_NR) == SIZE_MAX);
	assert_int_equal(table_row(table), 0);
	assert_true(table_col(table, M_ONLINE) == SIZE_MAX);
	value_u64(table_cell(table, 0, 0), 7);
	for (size_t i = 0; i < 3; i++) {
		value_str(table_cell(table, bad[i], 0), "nowhere");
		value_str(table_cell(table, 0, bad[i]), "nowhere");
		value_str(table_cell(NULL, 0, 0), "nowhere");
		assert_int_equal(table_cell(table, bad[i], 0)->kind, VALUE_NULL);
		assert_null(table_nested(table, 0, bad[i], "le"));
	}
	assert_true(table_cell(table, 0, 0)->u64 == 7);
	assert_true(table_col(NULL, M_CPU) == SIZE_MAX);
	assert_true(table_row(NULL) == SIZE_MAX);
	assert_null(table_nested(NULL, 0, 0, "le"));
	report_free(report);
}

/*
 * Builds a report with every setter, so that each array grows. Like the meters, ignores the results
 * of the setters.
 */
static struct report *build(void)
{
	struct report *report = report_begin("runq", 0, 0, "bpf-pmu");
	struct table *table, *le;
	size_t name, buckets;

	if (!report)
		return NULL;
	table = report_table(report, "groups", "by cgroup");
	name = table_col_as(table, M_CHECK, "cgroup", NULL);
	buckets = table_col(table, M_BUCKETS);
	table_col(table, M_COUNT);
	for (unsigned int i = 0; i < 5; i++) {
		size_t row = table_row(table);

		value_str(table_cell(table, row, name), "/a");
		value_str(table_cell(table, row, name), "/a/b");
		for (unsigned int again = 0; again < 2; again++) {
			le = table_nested(table, row, buckets, "le");
			table_col(le, M_BURST_LE_NS);
			table_col_as(le, M_CHECK, "text", "text");
			value_u64(table_cell(le, table_row(le), 0), i);
			value_str(table_cell(le, 0, 1), "deep");
		}
		value_u64(table_cell(table, row, 2), i);
		report_note(report, "note %u", i);
		report_table(report, "more", NULL);
		value_u64(report_field(report, M_CPU + i), i);
		value_str(report_quality(report, M_CPU + i), "why");
	}
	return report;
}

static char *print(const struct report *report)
{
	char *text = NULL;
	size_t size = 0;
	struct view view = {.format = VIEW_JSON, .out = open_memstream(&text, &size)};
	int rc;

	assert_non_null(view.out);
	rc = view_write(&view, report);
	assert_int_equal(rc, report_check(report));
	fclose(view.out);
	if (!rc)
		return text;
	assert_int_equal(rc, -ENOMEM);
	assert_int_equal(size, 0);
	free(text);
	return NULL;
}

/*
 * view_write() refuses a report in which an allocation failed, unless a later call replaced the
 * string of the failed allocation.
 */
TEST(test_build_without_memory)
{
	struct report *good = build();
	char *expected = print(good);
	unsigned long at[2], refused = 0, whole = 0;

	assert_non_null(expected);
	for (unsigned int lasting = 0; lasting < 2; lasting++) {
		unsigned long failed = 1;

		for (at[lasting] = 0; failed; at[lasting]++) {
			struct report *report;
			char *text;

			oom_arm(at[lasting], lasting);
			report = build();
			failed = oom_disarm();
			text = report ? print(report) : NULL;
			if (text)
				assert_string_equal(text, expected);
			else
				assert_true(failed);
			refused += !text;
			whole += text != NULL;
			free(text);
			report_free(report);
		}
	}
	/* Each allocation of build() must have failed once. */
	assert_true(at[0] > 50);
	assert_true(refused > 5 * whole);
	free(expected);
	report_free(good);
}

TEST(test_view_without_memory)
{
	struct report *report = build();
	enum view_format format;

	assert_non_null(report);
	for (format = VIEW_TEXT; format <= VIEW_CSV; format++) {
		unsigned long failed = 1, at;

		for (at = 0; failed; at++) {
			char *text = NULL;
			size_t size = 0;
			struct view view = {.format = format, .all = true, .width = 80};
			int rc;

			view.out = open_memstream(&text, &size);
			assert_non_null(view.out);
			oom_arm(at, false);
			rc = view_write(&view, report);
			failed = oom_disarm();
			assert_int_equal(rc, failed ? -ENOMEM : 0);
			assert_int_equal(view.written, failed ? 0 : 1);
			fclose(view.out);
			free(text);
		}
		/* JSON is written directly, without allocations. */
		assert_true(format == VIEW_JSON ? at == 1 : at > 5);
	}
	report_free(report);
}

TEST_MAIN()
