/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Columns from a struct: every kind, every null, every flag, and every allocation failing once. */
#include "test.h"
#include "oom.h"

#include <math.h>

#include "report/columns.h"

struct row {
	uint32_t cpu;
	uint64_t count;
	double ratio[2];
	bool online;
	int8_t ended;
	const char *source;
	char *owned;
	char comm[4];
};

static const struct column_spec specs[] = {
	COLUMN(struct row, M_CPU, cpu),
	COLUMN(struct row, M_COUNT, count, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct row, M_BUSY_RATIO, ratio[1]),
	COLUMN(struct row, M_ONLINE, online),
	COLUMN(struct row, M_ENDED, ended),
	COLUMN(struct row, M_WAKE_SOURCE, source, .key = "from", .title = "whence"),
	COLUMN(struct row, M_DETAIL, owned),
	COLUMN(struct row, M_COMM, comm),
	COLUMN_NESTED(M_BUCKETS),
};

static char own[] = "own";

#define NR_SPECS (sizeof(specs) / sizeof(specs[0]))

TEST(test_kinds)
{
	struct row row = {.cpu = 7,
			  .count = 1ULL << 40,
			  .ratio = {0.25, 0.75},
			  .online = true,
			  .ended = 1,
			  .source = "bpf",
			  .owned = own,
			  .comm = "sh"};
	struct report *report = report_new("load");
	struct table *t = report_table(report, "cpus", NULL);

	assert_int_equal(columns_add(t, COLUMNS(specs)), 0);
	assert_int_equal(t->nr_cols, NR_SPECS);
	assert_false(t->cols[0].data_only);
	assert_true(t->cols[1].data_only);
	assert_string_equal(t->cols[0].key, "cpu");
	assert_string_equal(t->cols[5].key, "from");
	assert_string_equal(t->cols[5].title, "whence");
	assert_int_equal(columns_row(t, COLUMNS(specs), &row), 0);
	assert_int_equal(table_cell(t, 0, 0)->u64, 7);
	assert_true(table_cell(t, 0, 1)->u64 == 1ULL << 40);
	assert_true(table_cell(t, 0, 2)->f64 == 0.75);
	assert_int_equal(table_cell(t, 0, 3)->kind, VALUE_BOOL);
	assert_true(table_cell(t, 0, 3)->flag);
	assert_int_equal(table_cell(t, 0, 4)->kind, VALUE_BOOL);
	assert_true(table_cell(t, 0, 4)->flag);
	assert_string_equal(table_cell(t, 0, 5)->str, "bpf");
	assert_string_equal(table_cell(t, 0, 6)->str, "own");
	assert_string_equal(table_cell(t, 0, 7)->str, "sh");
	assert_int_equal(table_cell(t, 0, 8)->kind, VALUE_NULL);
	/* Filling a row again leaves a nested table where it is. */
	assert_non_null(table_nested(t, 0, 8, "le"));
	row.cpu = 8;
	columns_fill(t, 0, 0, COLUMNS(specs), &row);
	assert_int_equal(table_cell(t, 0, 0)->u64, 8);
	assert_int_equal(table_cell(t, 0, 8)->kind, VALUE_TABLE);
	assert_int_equal(report_check(report), 0);
	report_free(report);
}

TEST(test_nulls)
{
	struct row full = {.source = "bpf"};
	struct row row = {.cpu = UINT32_MAX, .count = UINT64_MAX, .ratio = {0, NAN}, .ended = -1};
	struct report *report = report_new("load");
	struct table *t = report_table(report, "cpus", NULL);

	columns_add(t, COLUMNS(specs));
	columns_row(t, COLUMNS(specs), &full);
	assert_int_equal(table_cell(t, 0, 0)->kind, VALUE_U64);
	/* Also over a row that had figures. */
	columns_fill(t, 0, 0, COLUMNS(specs), &row);
	for (size_t i = 0; i < NR_SPECS; i++)
		if (specs[i].kind != COLUMN_BOOL && specs[i].kind != COLUMN_CHARS)
			assert_int_equal(table_cell(t, 0, i)->kind, VALUE_NULL);
	assert_int_equal(table_cell(t, 0, 3)->kind, VALUE_BOOL);
	assert_false(table_cell(t, 0, 3)->flag);
	assert_string_equal(table_cell(t, 0, 7)->str, "");
	report_free(report);
}

struct figures {
	double whole, half, below, large, none;
};

TEST(test_integers)
{
	static const struct column_spec plain[] = {COLUMN(struct figures, M_AVG_NS, whole)};
	static const struct column_spec integer[] = {
		COLUMN(struct figures, M_AVG_NS, whole, .flags = COLUMN_INTEGER),
		COLUMN(struct figures, M_AVG_NS, half, .flags = COLUMN_INTEGER),
		COLUMN(struct figures, M_AVG_NS, below, .flags = COLUMN_INTEGER),
		COLUMN(struct figures, M_AVG_NS, large, .flags = COLUMN_INTEGER),
		COLUMN(struct figures, M_AVG_NS, none, .flags = COLUMN_INTEGER),
	};
	static const struct column_spec rounded[] = {
		COLUMN(struct figures, M_AVG_NS, half, .flags = COLUMN_ROUND),
		COLUMN(struct figures, M_AVG_NS, below, .flags = COLUMN_ROUND),
		COLUMN(struct figures, M_AVG_NS, none, .flags = COLUMN_ROUND),
	};
	struct figures f = {5, 2.5, -2.4, 0x1p63, NAN};
	struct report *report = report_new("load");
	struct table *t = report_table(report, "figures", NULL);
	size_t first;

	assert_int_equal(columns_add(t, COLUMNS(plain)), 0);
	assert_int_equal(columns_add(t, COLUMNS(integer)), 1);
	first = columns_add(t, COLUMNS(rounded));
	assert_int_equal(first, 6);
	columns_row(t, COLUMNS(plain), &f);
	columns_fill(t, 0, 1, COLUMNS(integer), &f);
	columns_fill(t, 0, first, COLUMNS(rounded), &f);
	assert_int_equal(table_cell(t, 0, 0)->kind, VALUE_F64);
	assert_int_equal(table_cell(t, 0, 1)->kind, VALUE_U64);
	assert_int_equal(table_cell(t, 0, 1)->u64, 5);
	assert_true(table_cell(t, 0, 2)->f64 == 2.5);
	assert_true(table_cell(t, 0, 3)->f64 == -2.4);
	assert_true(table_cell(t, 0, 4)->f64 == 0x1p63);
	assert_int_equal(table_cell(t, 0, 5)->kind, VALUE_NULL);
	assert_int_equal(table_cell(t, 0, 6)->u64, 3);
	assert_true(table_cell(t, 0, 7)->f64 == -2.0);
	assert_int_equal(table_cell(t, 0, 8)->kind, VALUE_NULL);
	report_free(report);
}

TEST(test_quality)
{
	static const struct column_spec losses[] = {
		COLUMN(struct row, M_TORN_TOTAL, count, .flags = COLUMN_OPTIONAL),
		COLUMN(struct row, M_CLOSURE_MAX_RATIO, ratio[0], .flags = COLUMN_DATA_ONLY),
	};
	struct row row = {.count = 3, .ratio = {NAN, 0}};
	struct report *report = report_new("load");

	columns_quality(report, COLUMNS(losses), &row);
	assert_int_equal(report->quality->nr_cols, 2);
	assert_int_equal(table_cell(report->quality, 0, 0)->u64, 3);
	assert_int_equal(table_cell(report->quality, 0, 1)->kind, VALUE_NULL);
	assert_false(report->quality->cols[0].data_only);
	assert_true(report->quality->cols[1].data_only);
	/* What a source cannot lose is no key; what it could not measure is null. */
	row.count = UINT64_MAX;
	columns_fields(report, COLUMNS(losses), &row);
	assert_int_equal(report->fields->nr_cols, 1);
	assert_string_equal(report->fields->cols[0].key, "closure_error_max_ratio");
	report_free(report);
}

static struct report *build(void)
{
	struct row row = {.source = "bpf", .owned = own, .comm = "sh"};
	struct report *report = report_new("load");
	struct table *t;

	if (!report)
		return NULL;
	t = report_table(report, "cpus", NULL);
	columns_add(t, COLUMNS(specs));
	for (int i = 0; i < 3; i++)
		columns_row(t, COLUMNS(specs), &row);
	columns_quality(report, COLUMNS(specs), &row);
	return report;
}

TEST(test_without_memory)
{
	unsigned long failed = 1, at;

	for (at = 0; failed; at++) {
		struct report *report;

		oom_arm(at, false);
		report = build();
		failed = oom_disarm();
		assert_true(!report || report_check(report) == (failed ? -ENOMEM : 0));
		report_free(report);
	}
	assert_true(at > 20);
}

TEST_MAIN()
