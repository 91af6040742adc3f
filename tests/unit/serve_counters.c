/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows become counters: sums are exact, never fall, are bounded in number, and end with their cgroup. */
#include "serve/collectors.h"

#include "base/clock.h"
#include "test.h"

static struct config config;
static struct store store;

static int setup(void **state)
{
	(void)state;
	return config_init(&config) || store_init(&store, config.le_ns, config.nr_le);
}

static int teardown(void **state)
{
	(void)state;
	store_free(&store);
	config_free(&config);
	return 0;
}

static uint64_t word(enum family_id id, const char *labels, unsigned int nr)
{
	size_t row = series_find(&store.series[id], labels);

	if (row == SERIES_NONE)
		fail_msg("no series %s{%s}", family_get(id)->name, labels);
	return series_words(&store.series[id], row)[nr].u64;
}

static struct report *load_window(uint64_t window_ns, double task, double idle, const char *flags)
{
	struct report *report = report_new("load");
	struct table *cpus = report_table(report, "cpus", NULL);
	static const enum metric_id ids[] = {M_CPU,	    M_ONLINE,	M_BUSY_RATIO,
					     M_TASK_RATIO,  M_IDLE_RATIO, M_STEAL_RATIO,
					     M_CPU_WINDOW_NS, M_FLAGS,	M_CMP_PROCSTAT};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		table_col(cpus, ids[i]);
	table_row(cpus);
	value_u64(table_cell(cpus, 0, 0), 3);
	value_bool(table_cell(cpus, 0, 1), true);
	value_str(table_cell(cpus, 0, 7), flags);
	if (*flags)
		return report;
	value_f64(table_cell(cpus, 0, 2), task);
	value_f64(table_cell(cpus, 0, 3), task);
	value_f64(table_cell(cpus, 0, 4), idle);
	value_u64(table_cell(cpus, 0, 6), window_ns);
	value_f64(table_cell(cpus, 0, 8), 1.0);
	return report;
}

static void absorb_load(struct report *report)
{
	collector_find("load")->absorb(&store, &config, NULL, report);
	report_free(report);
}

static void test_load(void **state)
{
	(void)state;
	absorb_load(load_window(1000000000, 0.25, 0.75, ""));
	absorb_load(load_window(2000000000, 0.5, 0.5, ""));
	assert_int_equal(word(F_CPU, "cpu=\"3\",context=\"task\"", 0), 1250000000);
	assert_int_equal(word(F_CPU, "cpu=\"3\",context=\"idle\"", 0), 1750000000);
	assert_int_equal(word(F_PROCSTAT_BUSY, "cpu=\"3\"", 0), 3000000000);
	/* What the source cannot tell has no series. */
	assert_int_equal(series_find(&store.series[F_CPU], "cpu=\"3\",context=\"steal\""), SERIES_NONE);
	/* A window without a figure adds nothing but is counted. */
	absorb_load(load_window(1000000000, 0, 0, "torn"));
	assert_int_equal(word(F_CPU, "cpu=\"3\",context=\"task\"", 0), 1250000000);
	assert_int_equal(word(F_CPU_VOID, "cpu=\"3\",reason=\"torn\"", 0), 1);
	absorb_load(load_window(1000000000, 0, 0, "offline"));
	assert_int_equal(store.series[F_CPU_VOID].nr, 1);
}

struct group {
	const char *cgroup;
	bool ended;
	uint64_t count, sum_ns;
};

/* Every wait between the 4th and the 5th boundary. */
static struct report *runq_window(uint64_t time_ns, const struct group *groups, size_t nr)
{
	struct report *report = report_new("runq");
	struct table *table = report_table(report, "groups", NULL);
	struct table *blame;

	report->time_unix_ns = time_ns;
	table_col_as(table, M_DETAIL, "cgroup", NULL);
	table_col_as(table, M_ONLINE, "ended", NULL);
	table_col(table, M_COUNT);
	table_col(table, M_SUM_NS);
	table_col_as(table, M_SUM_NS, "causes.idle_exit_ns", NULL);
	table_col_as(table, M_SUM_NS, "causes.throttled_ns", NULL);
	table_col(table, M_BUCKETS);
	for (size_t i = 0; i < nr; i++) {
		struct table *le;

		table_row(table);
		value_str(table_cell(table, i, 0), groups[i].cgroup);
		value_bool(table_cell(table, i, 1), groups[i].ended);
		value_u64(table_cell(table, i, 2), groups[i].count);
		value_u64(table_cell(table, i, 3), groups[i].sum_ns);
		value_u64(table_cell(table, i, 4), groups[i].sum_ns);
		le = table_nested(table, i, 6, "le");
		table_col(le, M_BURST_LE_NS);
		table_col(le, M_COUNT);
		for (unsigned int j = 0; j < config.nr_le; j++) {
			table_row(le);
			value_u64(table_cell(le, j, 0), config.le_ns[j]);
			value_u64(table_cell(le, j, 1), j >= 4 ? groups[i].count : 0);
		}
	}
	blame = report_table(report, "blame", NULL);
	table_col_as(blame, M_DETAIL, "victim", NULL);
	table_col_as(blame, M_FIX, "culprit", NULL);
	table_col_as(blame, M_SUM_NS, "wait_ns", NULL);
	table_col(blame, M_COUNT);
	for (size_t i = 0; i < nr; i++) {
		table_row(blame);
		value_str(table_cell(blame, i, 0), groups[i].cgroup);
		value_str(table_cell(blame, i, 1), groups[(i + 1) % nr].cgroup);
		value_u64(table_cell(blame, i, 2), groups[i].sum_ns);
		value_u64(table_cell(blame, i, 3), groups[i].count);
	}
	return report;
}

static void absorb_runq(uint64_t time_ns, const struct group *groups, size_t nr)
{
	struct report *report = runq_window(time_ns, groups, nr);

	assert_int_equal(report_check(report), 0);
	runq_absorb(&store, &config, report);
	report_free(report);
}

static void test_runq(void **state)
{
	static const struct group groups[] = {{"/a", false, 10, 1000}, {"/\"b\"\n", false, 5, 500}};

	(void)state;
	absorb_runq(1, groups, 2);
	absorb_runq(2, groups, 2);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/a\"", 3), 0);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/a\"", 4), 20);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/a\"", config.nr_le), 20);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/a\"", config.nr_le + 1), 2000);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/\\\"b\\\"\\n\"", config.nr_le), 10);
	assert_int_equal(word(F_RUNQ_CAUSE, "cgroup=\"/a\",cause=\"idle_exit\"", 0), 2000);
	assert_int_equal(series_find(&store.series[F_RUNQ_CAUSE], "cgroup=\"/a\",cause=\"throttled\""),
			 SERIES_NONE);
	assert_int_equal(word(F_RUNQ_BLAME, "victim=\"/a\",culprit=\"/\\\"b\\\"\\n\"", 0), 2000);
	assert_int_equal(word(F_RUNQ_GROUPS, "", 0), 2);
}

static void test_limit(void **state)
{
	struct group groups[50];
	char names[50][16];
	uint64_t total = 0;

	(void)state;
	config.cgroup_limit = 10;
	config.blame_limit = 5;
	for (int i = 0; i < 50; i++) {
		snprintf(names[i], sizeof(names[i]), "/g%d", i);
		groups[i] = (struct group){names[i], false, 1, 7};
	}
	absorb_runq(1, groups, 50);
	/* Ten of their own, one for the rest; nothing is lost. */
	assert_int_equal(store.series[F_RUNQ].nr, 11);
	assert_int_equal(word(F_RUNQ, "cgroup=\"(other)\"", config.nr_le), 40);
	assert_int_equal(word(F_RUNQ_FOLDED, "kind=\"waits\"", 0), 40);
	for (size_t i = 0; i < store.series[F_RUNQ].nr; i++)
		total += series_words(&store.series[F_RUNQ], i)[config.nr_le].u64;
	assert_int_equal(total, 50);
	assert_true(store.series[F_RUNQ_BLAME].nr <= 6);
	total = 0;
	for (size_t i = 0; i < store.series[F_RUNQ_BLAME].nr; i++)
		total += series_words(&store.series[F_RUNQ_BLAME], i)->u64;
	assert_int_equal(total, 350);
}

static void test_ended(void **state)
{
	static const struct group both[] = {{"/a", true, 1, 10}, {"/b", false, 1, 10}};
	static const struct group one[] = {{"/b", false, 1, 10}};

	(void)state;
	absorb_runq(NSEC_PER_SEC, both, 2);
	absorb_runq(200 * NSEC_PER_SEC, one, 1);
	/* Still there for slow scrapers, gone after five minutes, with all that names it. */
	assert_int_equal(word(F_RUNQ, "cgroup=\"/a\"", config.nr_le), 1);
	absorb_runq(400 * NSEC_PER_SEC, one, 1);
	assert_int_equal(series_find(&store.series[F_RUNQ], "cgroup=\"/a\""), SERIES_NONE);
	assert_int_equal(store.series[F_RUNQ_CAUSE].nr, 1);
	assert_int_equal(series_find(&store.series[F_RUNQ_BLAME], "victim=\"/a\",culprit=\"/b\""),
			 SERIES_NONE);
	assert_int_equal(series_find(&store.series[F_RUNQ_BLAME], "victim=\"/b\",culprit=\"/a\""),
			 SERIES_NONE);
	assert_int_equal(word(F_RUNQ, "cgroup=\"/b\"", config.nr_le), 3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_load, setup, teardown),
		cmocka_unit_test_setup_teardown(test_runq, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ended, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
