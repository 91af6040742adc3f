/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests comparisons of two runs of crit or wake, and files that cannot be compared. */
#include "test.h"

#include "present/diff.h"
#include "report/report.h"

#define CRIT(engine, unit, work, rounds, batch, low, high)                                       \
	"{\"schema\":\"subtick.crit/1\",\"time_unix_ns\":1,\"window_ns\":9,\"engine\":\"" engine     \
	"\",\"unit\":\"" unit "\",\"do_work\":" work ",\"rounds\":" rounds                            \
	",\"ops\":[{\"op\":\"irq\",\"batch\":null,\"batch_low\":null,\"batch_high\":null},"           \
	"{\"op\":\"preempt\",\"batch\":" batch ",\"batch_low\":" low ",\"batch_high\":" high            \
	"}],\"quality\":{},\"notes\":[]}"
#define POINT(latency, state)                                                                    \
	"{\"cpu\":1,\"source\":\"timer\",\"forced\":null,\"name\":" state ",\"latency_ns\":" latency "}"
#define POINTS(...)                                                                              \
	"{\"schema\":\"subtick.wake.points/1\",\"time_unix_ns\":1,\"window_ns\":9,\"points\":["      \
	__VA_ARGS__ "],\"quality\":{},\"notes\":[]}"
#define C1 "\"C1\""

static int diff_of(const char *before, const char *after, struct report **ret_report,
		   struct err *err)
{
	struct report *windows[2];
	struct diff_side sides[2] = {{"before.json", &windows[0], 1}, {"after.json", &windows[1], 1}};
	size_t used;
	int rc;

	assert_int_equal(report_read_json(before, strlen(before), &windows[0], &used, NULL), 0);
	assert_int_equal(report_read_json(after, strlen(after), &windows[1], &used, NULL), 0);
	rc = diff_report(sides, true, ret_report, err);
	report_free(windows[0]);
	report_free(windows[1]);
	return rc;
}

static void assert_change(const char *before, const char *after, const char *table, double change,
			  int changed)
{
	struct report *report = NULL;
	struct err err = {0};
	const struct value *cell;
	const struct table *t;

	assert_int_equal(diff_of(before, after, &report, &err), 0);
	t = report_find(report, table);
	assert_non_null(t);
	assert_int_equal(t->nr_rows, 1);
	assert_true(table_number(t, 0, "change_ratio") - change < 1e-9 &&
		    change - table_number(t, 0, "change_ratio") < 1e-9);
	cell = table_get(t, 0, "changed");
	assert_int_equal(cell->kind, changed < 0 ? VALUE_NULL : VALUE_BOOL);
	if (changed >= 0)
		assert_int_equal(cell->flag, changed);
	report_free(report);
}

/*
 * Two runs of five rounds differ if their ranges are disjoint, and do not differ if the ranges
 * overlap. Four rounds are too few for a verdict.
 */
TEST(test_rounds)
{
	const char *before = CRIT("bpf", "ns", "false", "5", "1.1", "1.0", "1.2");

	assert_change(before, CRIT("bpf", "ns", "false", "5", "2.2", "2.0", "2.4"), "times", 1.0, 1);
	assert_change(before, CRIT("bpf", "ns", "false", "5", "2.2", "1.2", "2.4"), "times", 1.0, 0);
	assert_change(before, CRIT("bpf", "ns", "false", "4", "2.2", "2.0", "2.4"), "times", 1.0, -1);
	assert_change(CRIT("module", "cycles", "true", "9", "20", "10", "30"),
		      CRIT("module", "cycles", "true", "9", "10", "5", "11"), "cycles", -0.5, 0);
}

TEST(test_refused)
{
	const char *bpf = CRIT("bpf", "ns", "false", "5", "1.1", "1.0", "1.2");
	const char *work = CRIT("bpf", "ns", "true", "5", "1.1", "1.0", "1.2");
	const char *module = CRIT("module", "cycles", "false", "5", "1.1", "1.0", "1.2");
	struct report *report = NULL;
	struct err err = {0};

	assert_int_equal(diff_of(bpf, work, &report, &err), -EINVAL);
	assert_non_null(strstr(err.what, "differ in do_work"));
	assert_int_equal(diff_of(bpf, module, &report, &err), -EINVAL);
	assert_non_null(strstr(err.what, "differ in engine"));
	assert_int_equal(diff_of(bpf, POINTS(POINT("1", C1)), &report, &err), -EINVAL);
	assert_null(report);
}

/*
 * Wake-ups with equal CPU, source and idle state are samples of one row. Rejected wake-ups are no
 * samples.
 */
TEST(test_points)
{
	const char *before = POINTS(POINT("1000", C1) "," POINT("1001", C1) "," POINT("999", C1) ","
				    POINT("null", "null"));

	assert_change(before,
		      POINTS(POINT("2000", C1) "," POINT("2001", C1) "," POINT("null", "null") ","
			     POINT("1999", C1)),
		      "times", 1.0, 1);
	assert_change(before, POINTS(POINT("1001", C1) "," POINT("1000", C1) "," POINT("999", C1)),
		      "times", 0.0, 0);
	assert_change(before, POINTS(POINT("1500", C1) "," POINT("1500", C1)), "times", 0.5, -1);
}

TEST_MAIN()
