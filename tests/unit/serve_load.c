/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counters from windows of load, and the self-metrics of each collector. */

#include "base/clock.h"
#include "measure/load/load.h"
#include "serve/export/collector.h"
#include "serve_store.h"

static uint64_t word(enum family_id id, const char *labels, unsigned int nr)
{
	return words(id, labels)[nr].u64;
}

/*
 * Adds a window of CPU 3. Without a flag tasks ran for @task_ns, and /proc/stat shows 100 % busy.
 */
static void absorb_load(uint64_t window_ns, uint64_t task_ns, uint32_t flags)
{
	struct load_cpu_window cpu[4] = {0}, shown[4] = {0};
	struct load_vecs vecs[4] = {0};
	struct load_window w = {
		.parts = 1u << LOAD_PART_TASK | 1u << LOAD_PART_IDLE,
		.cpu = cpu,
		.shown = {{"bpf", cpu}, {"procstat", shown}},
		.nr_shown = 2,
		.cpu_vecs = vecs,
		.losses = {5, 6, LOAD_NO_LOSS, 8, LOAD_NO_LOSS, LOAD_NO_LOSS},
	};

	cpuset_add(&w.cpus, 3);
	cpu[3] = (struct load_cpu_window){.window_ns = window_ns, .flags = flags};
	if (!(flags & LOAD_NO_FIGURE)) {
		cpu[3].busy_ns = cpu[3].part_ns[LOAD_PART_TASK] = task_ns;
		cpu[3].part_ns[LOAD_PART_IDLE] = window_ns - task_ns;
		cpu[3].busy_ratio = (double)task_ns / (double)window_ns;
		cpu[3].closure_error_ratio = 0.125;
	}
	shown[3] = (struct load_cpu_window){.window_ns = window_ns, .busy_ratio = 1.0};
	vecs[3].ns[3] = 70;
	vecs[3].count[3] = 2;
	load_absorb(&store, &w);
	/* The same core measured by a source that only knows busy and idle time. */
	w.parts = 0;
	w.nr_shown = 0;
	w.cpu_vecs = NULL;
	cpuset_del(&w.cpus, 3);
	cpuset_add(&w.cpus, 2);
	cpu[2] = cpu[3];
	load_absorb(&store, &w);
}

/* Two cores, one of them without a sibling and without a number. */
TEST_WITH(test_cores, setup, teardown)
{
	const struct load_core list[] = {
		{.package = 1, .core = 2, .cpu = {3, 7}, .busy_ns = {70, 20, 10}},
		{.package = UINT32_MAX, .core = UINT32_MAX, .cpu = {4, 4}, .busy_ns = {60, 0, 40}},
		{.package = 1, .core = 5, .cpu = {5, 6}, .flags = LOAD_OFFLINE},
	};
	struct load_window w = {.cores = list, .nr_cores = 3};

	memset(&w.losses, 0xff, sizeof(w.losses));
	load_absorb(&store, &w);
	load_absorb(&store, &w);
	assert_int_equal(word(F_CORE, "package=\"1\",core=\"2\",cpus=\"3,7\",busy=\"one\"", 0), 40);
	assert_int_equal(word(F_CORE, "package=\"1\",core=\"2\",cpus=\"3,7\",busy=\"all\"", 0), 20);
	assert_int_equal(word(F_CORE, "package=\"\",core=\"\",cpus=\"4\",busy=\"none\"", 0), 120);
	/* A core alone has no series of one of two. */
	assert_int_equal(count(F_CORE), 5);
}

TEST_WITH(test_load, setup, teardown)
{
	/* Odd figures, which a share of a window would round. */
	const uint64_t day = 86400ULL * NSEC_PER_SEC;
	double error;

	absorb_load(day + 1, 7777777777777, 0);
	absorb_load(day + 3, 3, 0);
	assert_true(word(F_CPU, "cpu=\"3\",context=\"task\"", 0) == 7777777777780);
	assert_true(word(F_CPU, "cpu=\"3\",context=\"idle\"", 0) == 2 * day + 4 - 7777777777780);
	assert_true(word(F_CPU, "cpu=\"2\",context=\"busy\"", 0) == 7777777777780);
	assert_true(word(F_CPU, "cpu=\"2\",context=\"idle\"", 0) == 2 * day + 4 - 7777777777780);
	assert_true(word(F_PROCSTAT_BUSY, "cpu=\"3\"", 0) == 2 * day + 4);
	error = words(F_PROCSTAT_ERROR, "cpu=\"3\"")->f64;
	assert_true(error > 0.999 && error < 1.0);
	assert_int_equal(word(F_SOFTIRQ, "cpu=\"3\",vec=\"NET_RX\"", 0), 140);
	assert_int_equal(word(F_SOFTIRQ_RUNS, "cpu=\"3\",vec=\"NET_RX\"", 0), 4);
	assert_int_equal(word(F_CPU_ONLINE, "cpu=\"3\"", 0), 1);
	/* A figure that the source lacks has no series. */
	assert_null(find(F_CPU, "cpu=\"3\",context=\"steal\""));
	assert_null(find(F_CPU_CLOSURE, "cpu=\"2\""));
	assert_int_equal(count(F_SOFTIRQ), 1);
	/* Losses are totals, and only the source's own kinds of loss have series. */
	assert_int_equal(word(F_LOSS, "collector=\"load\",kind=\"torn\"", 0), 5);
	assert_int_equal(word(F_LOSS, "collector=\"load\",kind=\"odd_edges\"", 0), 6);
	assert_int_equal(word(F_LOSS, "collector=\"load\",kind=\"recursion_misses\"", 0), 8);
	assert_int_equal(count(F_LOSS), 3);
	/* A window without a figure adds nothing but is counted. */
	absorb_load(1000000000, 0, LOAD_TORN);
	assert_true(word(F_CPU, "cpu=\"3\",context=\"task\"", 0) == 7777777777780);
	assert_true(word(F_PROCSTAT_BUSY, "cpu=\"3\"", 0) == 2 * day + 4);
	assert_int_equal(word(F_SOFTIRQ_RUNS, "cpu=\"3\",vec=\"NET_RX\"", 0), 4);
	assert_int_equal(word(F_CPU_VOID, "cpu=\"3\",reason=\"torn\"", 0), 1);
	/* A window of an offline CPU is not counted either. */
	absorb_load(1000000000, 0, LOAD_OFFLINE);
	assert_int_equal(count(F_CPU_VOID), 2);
	assert_int_equal(word(F_CPU_ONLINE, "cpu=\"3\"", 0), 0);
}

static bool meter_fails;

/* A meter that has lost 5 and 7 since its start. */
static int lossy_read(struct meter *meter, struct err *err)
{
	return meter_fails ? err_set(err, -EIO, "broken on purpose") : 0;
}

static uint64_t presented; /* reports built */

int __wrap_overview_part_report(const struct overview_window *window, enum overview_part part,
				bool all_in_load, struct report **ret_report);
int __wrap_overview_part_report(const struct overview_window *window, enum overview_part part,
				bool all_in_load, struct report **ret_report)
{
	struct report *report = report_new("lossy");

	report->time_unix_ns = presented++;
	*ret_report = report;
	return 0;
}

static void lossy_absorb(struct store *to, const struct meter *meter)
{
	store_window(to, "lossy", "made up", 77);
	store_loss(to, "lossy", "torn", 5);
	store_loss(to, "lossy", "table_full", 7);
}

/* Losses are totals, so they are set and not added. */
TEST_WITH(test_losses, setup, teardown)
{
	static const struct meter_ops ops = {.read = lossy_read};
	static const struct collector_ops lossy = {.name = "lossy", .absorb = lossy_absorb};
	struct meter meter = {.ops = &ops};
	struct collector collector = {.ops = &lossy, .meter = &meter};
	struct err err = {0};

	for (int i = 0; i < 3; i++)
		assert_int_equal(collector_update(&collector, &store, &err), 0);
	assert_int_equal(count(F_LOSS), 2);
	assert_int_equal(word(F_LOSS, "collector=\"lossy\",kind=\"torn\"", 0), 5);
	assert_int_equal(word(F_LOSS, "collector=\"lossy\",kind=\"table_full\"", 0), 7);
	assert_int_equal(word(F_UPDATES, "collector=\"lossy\"", 0), 3);
	assert_int_equal(word(F_UP, "collector=\"lossy\"", 0), 1);
	assert_int_equal(word(F_UPDATE_TIME, "collector=\"lossy\"", 0), 77);
	assert_int_equal(store.generation, 3);
	/* A failing collector is down and keeps its counters. */
	meter_fails = true;
	assert_int_equal(collector_update(&collector, &store, &err), -EIO);
	meter_fails = false;
	assert_int_equal(word(F_UP, "collector=\"lossy\"", 0), 0);
	assert_int_equal(word(F_UPDATES, "collector=\"lossy\"", 0), 3);
	assert_int_equal(word(F_LOSS, "collector=\"lossy\",kind=\"torn\"", 0), 5);
	assert_int_equal(store.generation, 4);
	assert_int_equal(word(F_SOURCE, "collector=\"lossy\",source=\"made up\"", 0), 1);
}

/* Windows build no report. A request builds one, of the last window that was read, once. */
TEST_WITH(test_report, setup, teardown)
{
	static const struct meter_ops ops = {.read = lossy_read};
	static const struct collector_ops lossy = {
		.name = "lossy", .absorb = lossy_absorb};
	struct meter meter = {.ops = &ops};
	struct collectors all = {.list = {{.ops = &lossy, .meter = &meter}}};
	struct collector *collector = &all.list[0];
	struct err err = {0};

	presented = 0;
	assert_null(collector_report(&all, 0));
	for (int i = 0; i < 3; i++)
		assert_int_equal(collector_update(collector, &store, &err), 0);
	assert_int_equal(presented, 0);
	assert_int_equal(collector_report(&all, 0)->time_unix_ns, 0);
	assert_int_equal(collector_report(&all, 0)->time_unix_ns, 0);
	assert_int_equal(collector_update(collector, &store, &err), 0);
	assert_int_equal(collector_report(&all, 0)->time_unix_ns, 1);
	/* The window of a failed read is undefined: the last report stays, and none is built. */
	meter_fails = true;
	assert_int_equal(collector_update(collector, &store, &err), -EIO);
	assert_int_equal(collector_report(&all, 0)->time_unix_ns, 1);
	collector_forget_report(collector);
	assert_null(collector_report(&all, 0));
	meter_fails = false;
	assert_int_equal(presented, 2);
}

TEST_MAIN()
