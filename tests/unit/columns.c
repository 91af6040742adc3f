/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests table rows filled from a struct: every kind of column, null values, every flag, and each
 * memory allocation failing once.
 */
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
	COLUMN_NESTED(M_BUCKETS, &buckets_table),
};
static const struct table_spec cpus = TABLE("cpus", "cores", specs, .text_hidden = true);
static const struct table_spec singles = TABLE("quality", NULL, specs);

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
	struct table *t = columns_table(report, &cpus, 0), *le;

	assert_int_equal(t->nr_cols, NR_SPECS);
	assert_string_equal(t->key, "cpus");
	assert_string_equal(t->title, "cores");
	assert_true(t->text_hidden);
	assert_false(t->cols[0].data_only);
	assert_true(t->cols[1].data_only);
	assert_string_equal(t->cols[0].key, "cpu");
	assert_string_equal(t->cols[5].key, "from");
	assert_string_equal(t->cols[5].title, "whence");
	assert_int_equal(columns_row(t, &row), 0);
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
	/* Filling a row a second time keeps its nested table. */
	le = columns_nested(t, 0, 8, 0);
	assert_int_equal(columns_row(le, &(struct bucket_row){1023, 4}), 0);
	assert_string_equal(le->cols[0].key, "le_ns");
	assert_int_equal(table_cell(le, 0, 1)->u64, 4);
	row.cpu = 8;
	columns_fill(t, 0, &row);
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
	struct table *t = columns_table(report, &cpus, 0);

	columns_row(t, &full);
	assert_int_equal(table_cell(t, 0, 0)->kind, VALUE_U64);
	/* Filling a row with null values overwrites its previous figures. */
	columns_fill(t, 0, &row);
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
	static const struct column_spec columns[] = {
		COLUMN(struct figures, M_AVG_NS, whole),
		COLUMN(struct figures, M_AVG_NS, whole, .flags = COLUMN_INTEGER),
		COLUMN(struct figures, M_AVG_NS, half, .flags = COLUMN_INTEGER),
		COLUMN(struct figures, M_AVG_NS, below, .flags = COLUMN_INTEGER),
		COLUMN(struct figures, M_AVG_NS, large, .flags = COLUMN_INTEGER),
		COLUMN(struct figures, M_AVG_NS, none, .flags = COLUMN_INTEGER),
		COLUMN(struct figures, M_AVG_NS, half, .flags = COLUMN_ROUND),
		COLUMN(struct figures, M_AVG_NS, below, .flags = COLUMN_ROUND),
		COLUMN(struct figures, M_AVG_NS, none, .flags = COLUMN_ROUND),
	};
	static const struct table_spec spec = TABLE("figures", NULL, columns);
	struct figures f = {5, 2.5, -2.4, 0x1p63, NAN};
	struct report *report = report_new("load");
	struct table *t = columns_table(report, &spec, 0);

	columns_row(t, &f);
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
		COLUMN(struct row, M_torn_total, count, .flags = COLUMN_OPTIONAL),
		COLUMN(struct row, M_CLOSURE_MAX_RATIO, ratio[0], .flags = COLUMN_DATA_ONLY),
	};
	static const struct table_spec quality = TABLE("quality", NULL, losses);
	static const struct table_spec fields = TABLE("", NULL, losses);
	struct row row = {.count = 3, .ratio = {NAN, 0}};
	struct report *report = report_new("load");

	columns_set(report, &quality, 0, &row);
	assert_int_equal(report->quality->nr_cols, 2);
	assert_int_equal(table_cell(report->quality, 0, 0)->u64, 3);
	assert_int_equal(table_cell(report->quality, 0, 1)->kind, VALUE_NULL);
	assert_false(report->quality->cols[0].data_only);
	assert_true(report->quality->cols[1].data_only);
	/* A column with COLUMN_OPTIONAL is left out if its value is null. */
	row.count = UINT64_MAX;
	columns_set(report, &fields, 0, &row);
	assert_int_equal(report->fields->nr_cols, 1);
	assert_string_equal(report->fields->cols[0].key, "closure_error_max_ratio");
	report_free(report);
}

TEST(test_conditions)
{
	static const struct column_spec columns[] = {
		COLUMN(struct row, M_CPU, cpu, .when = 1 | 2),
		COLUMN(struct row, M_COUNT, count, .when = 2),
		COLUMN(struct row, M_COMM, comm, .flags = COLUMN_EMPTY_IS_NULL),
	};
	static const struct table_spec list = TABLE("cpus", NULL, columns);
	static const struct table_spec fields = TABLE("", NULL, columns);
	struct row row = {.cpu = 7, .count = 3};
	struct report *report = report_new("load");
	struct table *t = columns_table(report, &list, 1);

	assert_int_equal(t->nr_cols, 2);
	assert_int_equal(columns_row(t, &row), 0);
	assert_int_equal(table_cell(t, 0, 0)->u64, 7);
	assert_int_equal(table_cell(t, 0, 1)->kind, VALUE_NULL);
	assert_int_equal(columns_table(report, &list, 2)->nr_cols, 3);
	assert_int_equal(columns_table(report, &list, 4)->nr_cols, 1);
	columns_set(report, &fields, 1, &row);
	assert_int_equal(report->fields->nr_cols, 2);
	report_free(report);
}

TEST(test_percentiles)
{
	static const struct column_spec columns[] = {
		COLUMN(struct row, M_CPU, cpu),
		COLUMN_PERCENTILES(M_CRIT_PERCENTILE_NS, "percentiles.pN_x"),
		COLUMN(struct row, M_COUNT, count),
	};
	static const struct table_spec list = TABLE("cpus", NULL, columns);
	static const struct {
		double percent;
		const char *digits;
	} names[] = {{50, "50"}, {99.9, "999"},	    {9.99, "999"}, {100, "100"},
		     {0.5, "05"}, {99.999, "99999"}, {0.01, "001"}, {1, "1"}};
	const double percent[] = {50, 99.9};
	struct row row = {.cpu = 7, .count = 3};
	struct report *report = report_new("load");
	struct table *t = columns_percentiles(report, &list, 0, percent, 2);
	char digits[24];

	assert_int_equal(t->nr_cols, 4);
	assert_string_equal(t->cols[1].key, "percentiles.p50_x");
	assert_string_equal(t->cols[2].key, "percentiles.p999_x");
	assert_string_equal(t->cols[2].title, "p99.9");
	assert_int_equal(table_metric(t, M_CRIT_PERCENTILE_NS), 1);
	assert_int_equal(table_metric(t, M_COUNT), 3);
	assert_int_equal(table_metric(t, M_MAX_NS), -1);
	columns_row(t, &row);
	assert_int_equal(table_cell(t, 0, 2)->kind, VALUE_NULL);
	assert_int_equal(table_cell(t, 0, 3)->u64, 3);
	report_free(report);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		columns_digits(names[i].percent, digits);
		assert_string_equal(digits, names[i].digits);
	}
}

/*
 * The rows with the largest values keep their order, and of rows with equal values the first are
 * kept. A table without a column to rank by keeps all rows.
 */
TEST(test_top)
{
	static const uint64_t counts[] = {5, 9, 2, 9, 5, 1, 5};
	static const struct column_spec counted[] = {COLUMN(struct row, M_CPU, cpu),
						   COLUMN(struct row, M_COUNT, count)};
	static const struct table_spec ranked = TABLE("a", "first", counted, .rank = "count");
	static const struct table_spec plain = TABLE("b", "second", counted);
	static const uint64_t kept[] = {0, 1, 3, 4};
	struct report *report = report_new("load");
	struct table *a = columns_table(report, &ranked, 0), *b = columns_table(report, &plain, 0);

	for (uint32_t i = 0; i < 7; i++) {
		struct row row = {.cpu = i, .count = counts[i]};

		columns_row(a, &row);
		columns_row(b, &row);
	}
	columns_top(report, 7);
	assert_int_equal(a->nr_rows, 7);
	assert_int_equal(report->nr_notes, 0);
	columns_top(report, 4);
	assert_int_equal(a->nr_rows, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(table_cell(a, i, 0)->u64, kept[i]);
	assert_int_equal(b->nr_rows, 7);
	assert_int_equal(report->nr_notes, 1);
	assert_string_equal(report->notes[0], "first: 3 of 7 rows are left out, each with at most "
					      "5e-06 ms; --top 0 shows all");
	report_free(report);
}

static struct report *build(void)
{
	struct row row = {.source = "bpf", .owned = own, .comm = "sh"};
	struct report *report = report_new("load");
	struct table *t;

	if (!report)
		return NULL;
	t = columns_table(report, &cpus, 0);
	for (int i = 0; i < 3; i++)
		columns_nested(t, columns_row(t, &row), NR_SPECS - 1, 0);
	columns_set(report, &singles, 0, &row);
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

/*
 * Rows that are left out are freed together with their nested tables. If memory is exhausted, the
 * report fails.
 */
TEST(test_top_without_memory)
{
	unsigned long failed = 1, at;

	for (at = 0; failed; at++) {
		struct report *report = build();

		report->tables[0]->rank = "cpu";
		oom_arm(at, false);
		columns_top(report, 1);
		failed = oom_disarm();
		assert_int_equal(report_check(report), failed ? -ENOMEM : 0);
		assert_true(failed || report->tables[0]->nr_rows == 1);
		report_free(report);
	}
	assert_true(at > 2);
}

TEST_MAIN()
