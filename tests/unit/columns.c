/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests table rows filled from a struct, and the failure of each memory allocation. */
#include "oom.h"
#include "report_rows.h"

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
	COLUMN_BUCKETS(),
};
static const struct table_spec cpus = TABLE("cpus", "cores", specs, .text_hidden = true);
static const struct table_spec singles = TABLE("quality", NULL, specs);

static char own[] = "own";

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
	struct table *t = columns_table(report, &cpus, 0);

	assert_string_equal(t->title, "cores");
	assert_true(t->text_hidden);
	assert_false(t->cols[0].data_only);
	assert_true(t->cols[1].data_only);
	assert_string_equal(t->cols[5].title, "whence");
	assert_int_equal(columns_row(t, &row), 0);
	expect_json(report, "'cpus':[{'cpu':7,'count':1099511627776,'busy_ratio':0.75,'online':true,"
			    "'ended':true,'from':'bpf','detail':'own','comm':'sh','le':null}],");
	columns_buckets(t, 0, &(struct bucket_row){1023, 4}, 1);
	row.cpu = 8;
	columns_fill(t, 0, &row);
	expect_json(report, "'cpus':[{'cpu':8,");
	expect_json(report, "'comm':'sh','le':[{'le_ns':1023,'count':4}]}],");
	report_free(report);
}

TEST(test_nulls)
{
	struct row full = {.source = "bpf"};
	struct row row = {.cpu = UINT32_MAX, .count = UINT64_MAX, .ratio = {0, NAN}, .ended = -1};
	struct report *report = report_new("load");
	struct table *t = columns_table(report, &cpus, 0);

	columns_row(t, &full);
	expect_json(report, "'cpus':[{'cpu':0,");
	columns_fill(t, 0, &row);
	expect_json(report, "'cpus':[{'cpu':null,'count':null,'busy_ratio':null,'online':false,"
			    "'ended':null,'from':null,'detail':null,'comm':'','le':null}],");
	report_free(report);
}

struct figures {
	double whole, half, below, large, none;
};

#define FIGURE(member, name, bits) \
	COLUMN(struct figures, M_AVG_NS, member, .key = name, .flags = bits)

TEST(test_integers)
{
	static const struct column_spec columns[] = {
		FIGURE(whole, "a", 0),
		FIGURE(whole, "b", COLUMN_INTEGER),
		FIGURE(half, "c", COLUMN_INTEGER),
		FIGURE(below, "d", COLUMN_INTEGER),
		FIGURE(large, "e", COLUMN_INTEGER),
		FIGURE(none, "f", COLUMN_INTEGER),
		FIGURE(half, "g", COLUMN_ROUND),
		FIGURE(below, "h", COLUMN_ROUND),
		FIGURE(none, "i", COLUMN_ROUND),
	};
	static const struct table_spec spec = TABLE("figures", NULL, columns);
	struct figures f = {5, 2.5, -2.4, 0x1p63, NAN};
	struct report *report = report_new("load");
	struct table *t = columns_table(report, &spec, 0);

	columns_row(t, &f);
	expect_json(report, "'figures':[{'a':5.0,'b':5,'c':2.5,'d':-2.4,'e':9.22337204e18,'f':null,"
			    "'g':3,'h':-2.0,'i':null}],");
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
	expect_json(report, "'quality':{'torn_total':3,'closure_error_max_ratio':null}");
	assert_false(report->quality->cols[0].data_only);
	assert_true(report->quality->cols[1].data_only);
	row.count = UINT64_MAX;
	columns_set(report, &fields, 0, &row);
	expect_json(report, "'source':null,'closure_error_max_ratio':null,'quality'");
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

	columns_row(t, &row);
	expect_json(report, "'cpus':[{'cpu':7,'comm':null}]");
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

	assert_string_equal(t->cols[2].title, "p99.9");
	assert_int_equal(table_metric(t, M_CRIT_PERCENTILE_NS), 1);
	assert_int_equal(table_metric(t, M_COUNT), 3);
	assert_int_equal(table_metric(t, M_MAX_NS), -1);
	columns_row(t, &row);
	expect_json(report, "{'cpu':7,'percentiles':{'p50_x':null,'p999_x':null},'count':3}");
	report_free(report);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		columns_digits(names[i].percent, digits);
		assert_string_equal(digits, names[i].digits);
	}
}

/*
 * Limiting a table keeps the rows with the largest values in their original order. If values are
 * equal, the first rows are kept. A table without a ranking column keeps all rows.
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
		columns_buckets(t, columns_row(t, &row), &(struct bucket_row){1023, 4}, 1);
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

/* Omitted rows are freed with their nested tables. report_check() reports a failed allocation. */
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
