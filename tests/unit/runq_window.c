/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests windows of `subtick runq`: their rows, and the comparison with run_delay. */
#include "runq_list.h"

#include <math.h>

#include "present/runq.h"
#include "report_rows.h"
#include "base/clock.h"

static int setup(void **state)
{
	list_begin();
	window.source = RUNQ_SOURCE_SCHED_INFO;
	window.hierarchy = RUNQ_HIERARCHY_V2;
	return 0;
}

static int teardown(void **state)
{
	list_end();
	return 0;
}

static void waited(uint64_t key, const char *path, uint64_t nr, uint64_t ns)
{
	struct runq_group *group = runq_group_new(
		&(struct runq_group){.key = key, .cgroup_id = key * 10, .comm = "comm"}, path);

	list_add(key, group, nr, ns, RUNQ_SAME);
	runq_group_put(group);
}

static void ask_for(const char *const *paths, size_t nr)
{
	filter.requested = calloc(nr, sizeof(*filter.requested));
	for (filter.nr = 0; filter.nr < nr; filter.nr++)
		filter.requested[filter.nr] = runq_group_new(&(struct runq_group){0}, paths[filter.nr]);
}

static void close_window(void)
{
	struct err err = {0};

	assert_int_equal(runq_window_groups(&window, &list, &filter, NULL, &err), 0);
}

TEST_WITH(test_figures, setup, teardown)
{
	const struct runq_group_window *group;

	waited(7, "/a", 100, 50000);
	waited(9, "/b", 3, 700);
	close_window();
	assert_int_equal(window.nr_groups, 2);
	group = &window.groups[0];
	assert_int_equal(group->party.kind, RUNQ_PARTY_GROUP);
	assert_string_equal(group->party.group->path, "/a");
	assert_int_equal(group->count, 100);
	assert_int_equal(group->sum_ns, 5000000);
	assert_float_equal(group->avg_ns, 50000, 0);
	assert_int_equal(group->max_ns, 50000);
	assert_int_equal(group->cause_ns[RUNQ_SAME], 5000000);
	assert_int_equal(group->le_count[0], 0);
	assert_int_equal(group->le_count[1], 100);
	assert_true(fabs(group->percentile_ns[0] - 50000) <= 50000.0 / HIST_SUB);
	assert_true(isnan(group->count_stderr_ratio) && isnan(group->sum_stderr_ratio));
	assert_int_equal(window.groups[1].le_count[0], 3);
	assert_int_equal(window.groups[1].le_count[1], 3);
}

TEST_WITH(test_sampled, setup, teardown)
{
	window.sample_ratio = 0.25;
	waited(7, "/a", 100, 50000);
	close_window();
	assert_int_equal(window.groups[0].count, 400);
	assert_int_equal(window.groups[0].sum_ns, 20000000);
	assert_int_equal(window.groups[0].cause_ns[RUNQ_SAME], 20000000);
	assert_int_equal(window.groups[0].le_count[1], 400);
	/* The maximum and the average wait are not divided by the sampling ratio. */
	assert_int_equal(window.groups[0].max_ns, 50000);
	assert_float_equal(window.groups[0].avg_ns, 50000, 0);
	assert_float_equal(window.groups[0].count_stderr_ratio, sqrt(0.75 / 100), 1e-12);
	assert_true(window.groups[0].sum_stderr_ratio > 0.0);
}

TEST_WITH(test_filtered, setup, teardown)
{
	struct report *report;

	waited(7, "/a", 100, 50000);
	window.filtered = true;
	close_window();
	assert_int_equal(runq_report(&window, NULL, &report), 0);
	assert_true(table_find(report->fields, "waits_seen") >= 0);
	expect_row(report->fields, 0, "waits_seen=null");
	assert_non_null(strstr(report->notes[1], "left out in the kernel"));
	report_free(report);
}

/*
 * Without fine histograms, options that need fine histograms are refused. Counts and sums are the
 * same with and without fine histograms.
 */
TEST_WITH(test_steps, setup, teardown)
{
	struct runq_group *group = runq_group_new(&(struct runq_group){.key = 7}, "/a");
	struct runq_group_window row = {.party = {RUNQ_PARTY_GROUP, group},
					.count = 100,
					.sum_ns = 5000000,
					.max_ns = 150000,
					.cause_ns = {[RUNQ_SAME] = 5000000},
					.hist = hist_of((const uint64_t[]){30, 60, 10}, 3)};
	struct report *report;
	struct err err = {0};

	assert_int_equal(runq_waits_append(&list, row, &err), 0);
	runq_group_put(group);
	window.steps_only = true;
	window.sample_ratio = 0.5;
	close_window();
	assert_int_equal(window.waits_seen, 200);
	assert_int_equal(window.groups[0].count, 200);
	assert_int_equal(window.groups[0].sum_ns, 10000000);
	assert_float_equal(window.groups[0].avg_ns, 50000, 0);
	assert_int_equal(window.groups[0].max_ns, 150000);
	assert_int_equal(window.groups[0].cause_ns[RUNQ_SAME], 10000000);
	assert_int_equal(window.groups[0].le_count[0], 60);
	assert_int_equal(window.groups[0].le_count[1], 180);
	/*
	 * Percentiles are interpolated. The p50 is a third of the way from 1 us to 100 us. The p99
	 * is nine tenths of the way from 100 us to the longest wait.
	 */
	assert_float_equal(window.groups[0].percentile_ns[0], 1000 + 99000 / 3.0, 1e-6);
	assert_float_equal(window.groups[0].percentile_ns[1], 145000, 1e-6);
	assert_float_equal(window.groups[0].count_stderr_ratio, sqrt(0.5 / 100), 1e-12);
	assert_true(isnan(window.groups[0].sum_stderr_ratio));
	assert_int_equal(runq_report(&window, NULL, &report), 0);
	expect_row(report->quality, 0, "percentile_error_ratio=null");
	assert_non_null(strstr(report->notes[1], "interpolated between the boundaries"));
	assert_non_null(strstr(report->notes[2], "standard error of sums is unavailable"));
	report_free(report);
}

static bool has(const char *path)
{
	for (size_t i = 0; i < window.nr_groups; i++)
		if (!strcmp(runq_party_path(&window.groups[i].party), path))
			return true;
	return false;
}

TEST_WITH(test_asked_for, setup, teardown)
{
	static const char *const asked[] = {"/a", "/silent"};

	ask_for(asked, 2);
	waited(7, "/a", 1, 1000);
	waited(8, "/a/b", 1, 1000);
	waited(9, "/ab", 1, 1000);
	waited(RUNQ_KEY_OTHER, "(other)", 1, 1000);
	close_window();
	/*
	 * The row "(other)" is reported, because its waits may belong to a selected cgroup. The
	 * selected cgroup /silent has no waits.
	 */
	assert_int_equal(window.nr_groups, 4);
	assert_true(has("/a") && has("(other)") && has("/silent"));
	assert_int_equal(window.groups[3].count, 0);
	assert_true(isnan(window.groups[3].avg_ns) && isnan(window.groups[3].percentile_ns[0]));
	/*
	 * Selecting a cgroup selects its descendants, but not cgroups whose names begin with the
	 * same letters.
	 */
	assert_true(has("/a/b") && !has("/ab"));
}

TEST_WITH(test_verdict, setup, teardown)
{
	static const char *const asked[] = {"/a", "/b"};

	window.limit_percent = 99;
	window.limit_ns = 10000;
	ask_for(asked, 2);
	waited(RUNQ_KEY_OTHER, "(other)", 1, 90000);
	waited(7, "/a", 1, 90000);
	waited(8, "/b", 1, 900);
	waited(9, "/c", 1, 90000);
	close_window();
	/* Only the percentiles of selected cgroups are compared with limit_ns. */
	assert_int_equal(window.nr_exceeded, 1);
	assert_false(window.groups[0].exceeded);
	assert_true(window.groups[1].exceeded);
	assert_false(window.groups[2].exceeded);
	assert_int_equal(window.windows_exceeded, 1);
	window.limit_ns = 95000;
	close_window();
	/* A window in which no cgroup exceeds limit_ns does not reset windows_exceeded. */
	assert_int_equal(window.nr_exceeded, 0);
	assert_int_equal(window.windows_exceeded, 1);
}

/*
 * An interpolated percentile that exceeds the longest wait is reduced to the longest wait before
 * output and before the comparison with limit_ns.
 */
TEST_WITH(test_verdict_is_of_what_is_shown, setup, teardown)
{
	const struct runq_group_window *group;

	waited(7, "/a", 100, 5000);
	window.limit_percent = 99;
	window.limit_ns = 5050;
	close_window();
	group = &window.groups[0];
	assert_true(hist_high(hist_index(5000)) > window.limit_ns);
	assert_float_equal(group->percentile_ns[1], 5000, 0);
	assert_false(group->exceeded);
	window.limit_ns = 4999;
	close_window();
	group = &window.groups[0];
	assert_true(group->exceeded);
	assert_float_equal(group->judged_ns, group->percentile_ns[1], 0);
}

TEST_WITH(test_report, setup, teardown)
{
	static const char *const asked[] = {"/silent"};
	const struct table *le;
	struct report *report;

	window.causes_known &= ~(1u << RUNQ_THROTTLED);
	window.schedstat_ratio = 0.5;
	window.missing_from_run_delay_ratio = NAN;
	waited(7, "/a", 2, 50000);
	waited(8, "/a", 2, 200000);
	close_window();
	assert_int_equal(runq_report(&window, NULL, &report), 0);
	expect_cells(report, "groups", 0, "cgroup_id=70 sum_ns=100000 "
					  "causes.same_group_ns=100000 causes.throttled_ns=null");
	assert_int_equal(table_get(report_find(report, "groups"), 0, "le")->table->nr_rows, 2);
	le = table_get(report_find(report, "groups"), 1, "le")->table;
	assert_int_equal(le->nr_rows, 3);
	assert_int_equal(table_cell(le, 2, 0)->kind, VALUE_NULL);
	assert_int_equal(table_cell(le, 2, 1)->u64, 2);
	report_free(report);
	ask_for(asked, 1);
	close_window();
	assert_int_equal(runq_report(&window, NULL, &report), 0);
	expect_cells(report, "groups", 0, "count=0 cgroup_id=null ended=null max_ns=null "
					  "p99_ns=null");
	report_free(report);
	window.has_causes = false;
	assert_int_equal(runq_report(&window, NULL, &report), 0);
	assert_int_equal(table_find(report->tables[0], "causes.same_group_ns"), -1);
	assert_true(table_find(report->tables[0], "sum_ns") >= 0);
	report_free(report);
}

TEST(test_ratio)
{
	struct runq_losses was = {.wait_ns = 5000, .missing_ns = 800, .delay_ns = 4000};
	struct runq_losses now = {.wait_ns = 6000, .missing_ns = 1000, .delay_ns = 4800};

	/*
	 * Waits grew by 1000 ns and run_delay by 800 ns. run_delay omits 200 ns of the waits by
	 * design.
	 */
	assert_true(runq_schedstat_ratio(&was, &now) == 1.0);
	assert_true(runq_missing_ratio(&was, &now) == 0.2);
	/* If the run queue's clock lags, the kernel may account more wait time than subtick. */
	now.missing_ns = 400;
	assert_true(runq_schedstat_ratio(&was, &now) == 1.75);
	assert_true(runq_missing_ratio(&was, &now) == -0.4);
}

TEST(test_unknown)
{
	struct runq_losses was = {.wait_ns = 5000, .delay_ns = 4000}, now = was;

	assert_true(isnan(runq_schedstat_ratio(&was, &now)));
	assert_true(isnan(runq_missing_ratio(&was, &now)));
	now.wait_ns += 10;
	assert_true(isnan(runq_schedstat_ratio(&was, &now)));
	was.delay_ns = now.delay_ns = 0;
	assert_true(isnan(runq_schedstat_ratio(&was, &now)));
	/* The sum of run_delay over all tasks decreases when a task exits. */
	was.delay_ns = 100;
	now.delay_ns = 90;
	assert_true(isnan(runq_schedstat_ratio(&was, &now)));
}

/*
 * Waits are compared with run_delay after 1, 2, 4, 8 and 16 s, then every 10 s, and at most once
 * per window.
 */
TEST(test_due)
{
	const uint64_t open_ns = 777 * NSEC_PER_SEC;
	uint64_t compared_ns = open_ns + NSEC_PER_SEC / 10;
	char at[64] = "", *end = at;

	assert_true(runq_compare_due(open_ns, 0, open_ns));
	for (unsigned int second = 1; second <= 40; second++) {
		if (!runq_compare_due(open_ns, compared_ns, open_ns + second * NSEC_PER_SEC))
			continue;
		compared_ns = open_ns + second * NSEC_PER_SEC;
		end += sprintf(end, "%u ", second);
	}
	assert_string_equal(at, "1 2 4 8 16 26 36 ");
	assert_true(runq_compare_due(open_ns, compared_ns, compared_ns + 60 * NSEC_PER_SEC));
}

static void add(struct runq_waits_list *waits, uint64_t key, const char *path, uint64_t ns,
		bool ended)
{
	struct runq_group *group = runq_group_new(&(struct runq_group){.key = key}, path);
	struct hist_entry entry = {.bucket = key, .count = 2};
	struct runq_group_window row = {.party = runq_party_of(key, group),
					.ended = ended,
					.count = 2,
					.sum_ns = ns,
					.max_ns = ns,
					.cause_ns = {[RUNQ_SAME] = ns},
					.avoidable_ns = ns / 2,
					.avoidable_most_ns = ns,
					.excluded_ns = ns * 2,
					.idle_cpu = ns,
					.excluded_cpu = ns + 1};
	struct err err = {0};

	assert_non_null(group);
	assert_int_equal(hist_set(&row.hist, &(struct hist){&entry, 1}), 0);
	assert_int_equal(runq_waits_append(waits, row, &err), 0);
	runq_group_put(group);
}

TEST(test_merge)
{
	struct runq_waits_list waits = {0};
	/* Two rows have the same key, and one of the two rows has ended. */
	add(&waits, 7, "/a", 30, true);
	add(&waits, 5, "/b", 40, false);
	add(&waits, 7, "/a", 20, false);
	runq_waits_merge(&waits);
	assert_int_equal(waits.nr, 2);
	assert_string_equal(waits.rows[0].party.group->path, "/a");
	assert_int_equal(waits.rows[0].sum_ns, 50);
	assert_true(waits.rows[0].ended);
	assert_int_equal(waits.rows[0].count, 4);
	assert_int_equal(waits.rows[0].hist.nr, 1);
	assert_int_equal(waits.rows[0].hist.entries[0].count, 4);
	assert_int_equal(waits.rows[0].cause_ns[RUNQ_SAME], 50);
	assert_int_equal(waits.rows[0].avoidable_ns, 25);
	assert_int_equal(waits.rows[0].avoidable_most_ns, 50);
	assert_int_equal(waits.rows[0].excluded_ns, 100);
	assert_int_equal(waits.rows[0].excluded_cpu, waits.rows[0].idle_cpu + 1);
	assert_int_equal(waits.rows[0].max_ns, 30);
	assert_string_equal(waits.rows[1].party.group->path, "/b");
	assert_false(waits.rows[1].ended);
	runq_waits_clear(&waits);
}

TEST_MAIN()
