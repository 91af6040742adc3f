/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows of load, noise, wake and runq become counters of the exporter. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "measure/load/load.h"
#include "serve/export/collector.h"
#include "serve_store.h"
#include "measure/noise/noise.h"
#include "stats/hist.h"
#include "measure/wake/wake.h"
#include "measure/runq/runq.h"
#include "measure/runq/window.h"

static uint64_t word(enum family_id id, const char *labels, unsigned int nr)
{
	return words(id, labels)[nr].u64;
}

/*
 * Adds a window of CPU 3. If @flags is 0, tasks ran for @task_ns and /proc/stat shows 100 % busy.
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
	/* The next window comes from a source that measures only busy and idle time. */
	w.parts = 0;
	w.nr_shown = 0;
	w.cpu_vecs = NULL;
	cpuset_del(&w.cpus, 3);
	cpuset_add(&w.cpus, 2);
	cpu[2] = cpu[3];
	load_absorb(&store, &w);
}

/* Two physical cores. The second core has only one CPU and no core number. */
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
	/* A core with a single CPU has no series for "one of two CPUs busy". */
	assert_int_equal(count(F_CORE), 5);
}

TEST_WITH(test_load, setup, teardown)
{
	/* Times in ns that would be rounded if they were stored as shares of a window. */
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
	/*
	 * Losses are totals since the start. Only the kinds of loss that the source can report have
	 * series.
	 */
	assert_int_equal(word(F_LOSS, "collector=\"load\",kind=\"torn\"", 0), 5);
	assert_int_equal(word(F_LOSS, "collector=\"load\",kind=\"odd_edges\"", 0), 6);
	assert_int_equal(word(F_LOSS, "collector=\"load\",kind=\"recursion_misses\"", 0), 8);
	assert_int_equal(count(F_LOSS), 3);
	/* A window without a valid figure adds no time, but is counted by its reason. */
	absorb_load(1000000000, 0, LOAD_TORN);
	assert_true(word(F_CPU, "cpu=\"3\",context=\"task\"", 0) == 7777777777780);
	assert_true(word(F_PROCSTAT_BUSY, "cpu=\"3\"", 0) == 2 * day + 4);
	assert_int_equal(word(F_SOFTIRQ_RUNS, "cpu=\"3\",vec=\"NET_RX\"", 0), 4);
	assert_int_equal(word(F_CPU_VOID, "cpu=\"3\",reason=\"torn\"", 0), 1);
	/* A window of an offline CPU is counted neither as valid nor as invalid. */
	absorb_load(1000000000, 0, LOAD_OFFLINE);
	assert_int_equal(count(F_CPU_VOID), 2);
	assert_int_equal(word(F_CPU_ONLINE, "cpu=\"3\"", 0), 0);
}

static bool meter_fails;

/* A meter that reports 5 and 7 lost events since its start. */
static int lossy_read(struct meter *meter, struct err *err)
{
	return meter_fails ? err_set(err, -EIO, "broken on purpose") : 0;
}

static uint64_t presented; /* number of built reports */

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

/*
 * Losses of a meter are totals since its start, so the counters are set to them instead of adding
 * them.
 */
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
	/* A collector that fails is reported as down and keeps its counters. */
	meter_fails = true;
	assert_int_equal(collector_update(&collector, &store, &err), -EIO);
	meter_fails = false;
	assert_int_equal(word(F_UP, "collector=\"lossy\"", 0), 0);
	assert_int_equal(word(F_UPDATES, "collector=\"lossy\"", 0), 3);
	assert_int_equal(word(F_LOSS, "collector=\"lossy\",kind=\"torn\"", 0), 5);
	assert_int_equal(store.generation, 4);
	assert_int_equal(word(F_SOURCE, "collector=\"lossy\",source=\"made up\"", 0), 1);
}

/*
 * Ending a window builds no report. A request builds the report of the last window, only once per
 * window.
 */
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
	/*
	 * After a failed read the window is undefined, so requests get the last report and no new
	 * report is built.
	 */
	meter_fails = true;
	assert_int_equal(collector_update(collector, &store, &err), -EIO);
	assert_int_equal(collector_report(&all, 0)->time_unix_ns, 1);
	collector_forget_report(collector);
	assert_null(collector_report(&all, 0));
	meter_fails = false;
	assert_int_equal(presented, 2);
}

#define THREAD(of, ran, max)                                                                       \
	{.cpu = 3, .kind = NOISE_KIND_THREAD, .name = of, .count = 1, .ns = ran, .longest_ns = max}

static void absorb(uint64_t second, const struct noise_source *sources, size_t nr)
{
	const struct noise_window w = {
		.time_mono_ns = second * NSEC_PER_SEC,
		.sources = sources,
		.nr_sources = nr,
		.nr_cores = 1,
		.noise_losses = {.sources = 5, .victims = 6},
		.losses = {.odd_edges = 7, .recursion_misses = 8},
	};

	noise_absorb(&store, &w);
}

static uint64_t noise_word(enum family_id id, const char *labels)
{
	return words(id, labels)[0].u64;
}

TEST_WITH(test_counters, setup, teardown)
{
	static const struct noise_source sources[] = {
		{.cpu = 3, .kind = NOISE_KIND_IRQ, .irq = 9, .name = "nvme0q1", .count = 7, .ns = 70,
		 .longest_ns = 20},
		{.cpu = 4, .kind = NOISE_KIND_SOFTIRQ, .name = "NET_RX", .count = 2, .ns = 30,
		 .longest_ns = 16},
		{.cpu = 4, .kind = NOISE_KIND_NMI, .name = "NMI", .count = 1, .ns = 5},
	};

	absorb(1, sources, 3);
	absorb(2, sources, 3);
	assert_int_equal(noise_word(F_NOISE, "cpu=\"3\",kind=\"irq\",source=\"nvme0q1\""), 140);
	assert_int_equal(noise_word(F_NOISE_EVENTS, "cpu=\"3\",kind=\"irq\",source=\"nvme0q1\""), 14);
	assert_int_equal(noise_word(F_NOISE_LONGEST, "cpu=\"3\",kind=\"irq\",source=\"nvme0q1\""), 20);
	assert_int_equal(noise_word(F_NOISE, "cpu=\"4\",kind=\"softirq\",source=\"NET_RX\""), 60);
	assert_int_equal(noise_word(F_NOISE, "cpu=\"4\",kind=\"nmi\",source=\"NMI\""), 10);
	assert_int_equal(count(F_NOISE), 3);
	/* Losses are totals. */
	assert_int_equal(noise_word(F_LOSS, "collector=\"noise\",kind=\"source_lost\""), 5);
	assert_int_equal(noise_word(F_LOSS, "collector=\"noise\",kind=\"victim_lost\""), 6);
	assert_int_equal(noise_word(F_LOSS, "collector=\"noise\",kind=\"odd_edges\""), 7);
	assert_int_equal(noise_word(F_LOSS, "collector=\"noise\",kind=\"recursion_misses\""), 8);
}

/*
 * All kworkers of one pool share a series. Other kernel threads with a number in their names have
 * separate series.
 */
TEST_WITH(test_pools, setup, teardown)
{
	static const struct noise_source sources[] = {
		THREAD("kworker/3:0", 1, 1),   THREAD("kworker/3:12", 2, 2),
		THREAD("kworker/3:1H", 4, 4),  THREAD("kworker/u8:7", 8, 8),
		THREAD("kworker/u8:9", 16, 9), THREAD("kworker/R-mm", 32, 9),
		THREAD("jbd2/a:1", 64, 9),
	};

	absorb(1, sources, 7);
	assert_int_equal(count(F_NOISE), 5);
	assert_int_equal(noise_word(F_NOISE, "cpu=\"3\",kind=\"kthread\",source=\"kworker/3\""), 3);
	assert_int_equal(noise_word(F_NOISE, "cpu=\"3\",kind=\"kthread\",source=\"kworker/3H\""), 4);
	assert_int_equal(noise_word(F_NOISE, "cpu=\"3\",kind=\"kthread\",source=\"kworker/u8\""), 24);
	assert_int_equal(noise_word(F_NOISE, "cpu=\"3\",kind=\"kthread\",source=\"kworker/R-mm\""), 32);
	assert_int_equal(noise_word(F_NOISE, "cpu=\"3\",kind=\"kthread\",source=\"jbd2/a:1\""), 64);
	assert_int_equal(noise_word(F_NOISE_LONGEST, "cpu=\"3\",kind=\"kthread\",source=\"kworker/u8\""), 9);
}

/*
 * When the number of series reaches the limit, new names share one series and existing series
 * continue.
 */
TEST_WITH(test_limit, setup, teardown)
{
	struct noise_source source = THREAD("", 1, 1);

	for (int i = 0; i < 2 * NOISE_SERIES_PER_CPU; i++) {
		snprintf(source.name, sizeof(source.name), "vhost-%d", i);
		absorb(1, &source, 1);
	}
	assert_int_equal(count(F_NOISE), NOISE_SERIES_PER_CPU + 1);
	assert_int_equal(noise_word(F_NOISE, "cpu=\"3\",kind=\"kthread\",source=\"(other)\""),
			 NOISE_SERIES_PER_CPU);
	snprintf(source.name, sizeof(source.name), "vhost-0");
	absorb(1, &source, 1);
	assert_int_equal(noise_word(F_NOISE, "cpu=\"3\",kind=\"kthread\",source=\"vhost-0\""), 2);
}

/* The maximum of a minute is shown until the end of the next minute. */
TEST_WITH(test_longest, setup, teardown)
{
	static const char labels[] = "cpu=\"3\",kind=\"kthread\",source=\"kswapd0\"";
	static const struct noise_source big = THREAD("kswapd0", 900, 900);
	static const struct noise_source small = THREAD("kswapd0", 10, 10);

	absorb(60, &big, 1);
	absorb(61, &small, 1);
	assert_int_equal(noise_word(F_NOISE_LONGEST, labels), 900);
	absorb(179, &small, 1);
	assert_int_equal(noise_word(F_NOISE_LONGEST, labels), 900);
	absorb(180, NULL, 0);
	assert_int_equal(noise_word(F_NOISE_LONGEST, labels), 10);
	absorb(240, NULL, 0);
	assert_int_equal(noise_word(F_NOISE_LONGEST, labels), 0);
	/* After two minutes without a window no maximum is left. */
	absorb(241, &big, 1);
	absorb(500, &small, 1);
	assert_int_equal(noise_word(F_NOISE_LONGEST, labels), 10);
}

/*
 * Softirq delays of all cores are added to one histogram per vector. The longest delay is kept per
 * core.
 */
TEST_WITH(test_delays, setup, teardown)
{
	static uint64_t hist[LOAD_NR_VECS][NOISE_NR_BUCKETS];
	const struct noise_delay delays[] = {
		{.cpu = 0, .vec = 1, .times = {2, 1030 + 900, 1030, 1030}},
		{.cpu = 1, .vec = 1, .times = {1, 5000, 5000, 5000}},
		{.cpu = 1, .vec = 3, .times = {1, 7, 7, 7}},
	};
	const struct noise_window w = {
		.time_mono_ns = NSEC_PER_SEC, .delays = delays, .nr_delays = 3, .delay_hist = hist};
	const union word *timer, *net;

	memset(hist, 0, sizeof(hist));
	hist[1][hist_index(900) >> NOISE_BUCKET_SHIFT]++;
	hist[1][hist_index(1030) >> NOISE_BUCKET_SHIFT]++;
	hist[1][hist_index(5000) >> NOISE_BUCKET_SHIFT]++;
	hist[3][hist_index(7) >> NOISE_BUCKET_SHIFT]++;
	noise_absorb(&store, &w);
	noise_absorb(&store, &w);
	timer = words(F_SOFTIRQ_DELAY, "vec=\"TIMER\"");
	assert_int_equal(timer[0].u64, 2);
	assert_int_equal(timer[1].u64, 4);
	assert_int_equal(timer[2].u64, 4);
	assert_int_equal(timer[3].u64, 6);
	assert_int_equal(timer[WAKE_NR_LE].u64, 6);
	assert_int_equal(timer[WAKE_NR_LE + 1].u64, 2 * 6930);
	net = words(F_SOFTIRQ_DELAY, "vec=\"NET_RX\"");
	assert_int_equal(net[0].u64, 2);
	assert_int_equal(count(F_SOFTIRQ_DELAY), 2);
	assert_int_equal(noise_word(F_SOFTIRQ_DELAY_LONGEST, "cpu=\"0\",vec=\"TIMER\""), 1030);
	assert_int_equal(noise_word(F_SOFTIRQ_DELAY_LONGEST, "cpu=\"1\",vec=\"TIMER\""), 5000);
	absorb(120, NULL, 0);
	assert_int_equal(noise_word(F_SOFTIRQ_DELAY_LONGEST, "cpu=\"1\",vec=\"TIMER\""), 0);
	assert_int_equal(count(F_SOFTIRQ_DELAY_LONGEST), 3);
}

/* Makes @count wake-ups of 3 µs each, which is between the 2nd and the 3rd boundary. */
static struct wake_state state_of(uint32_t cpu, const char *name, uint64_t count)
{
	struct wake_state s = {.cpu = cpu, .summary = {.count = count}, .sum_ns = count * 3000};

	snprintf(s.name, sizeof(s.name), "%s", name);
	for (unsigned int i = 0; i < WAKE_NR_LE; i++)
		s.le[i] = wake_le_ns(i) >= 3000 ? count : 0;
	return s;
}

TEST_WITH(test_absorb, setup, teardown)
{
	struct wake_state states[] = {state_of(0, "C1", 5), state_of(0, "C6", 2),
				      state_of(7, "C1", 1)};
	struct wake_window window = {.states = states, .nr_states = 3};
	const union word *found;

	wake_absorb(&store, &window);
	wake_absorb(&store, &window);
	assert_int_equal(count(F_WAKE), 3);
	assert_int_equal(store.series[F_WAKE].nr_le, WAKE_NR_LE);
	found = words(F_WAKE, "cpu=\"0\",state=\"C1\"");
	for (unsigned int i = 0; i < WAKE_NR_LE; i++) {
		assert_int_equal(store.series[F_WAKE].le_ns[i], wake_le_ns(i));
		assert_int_equal(found[i].u64, i < 2 ? 0 : 10);
	}
	assert_int_equal(found[WAKE_NR_LE].u64, 10);
	assert_int_equal(found[WAKE_NR_LE + 1].u64, 30000);
	assert_int_equal(words(F_WAKE, "cpu=\"0\",state=\"C6\"")[WAKE_NR_LE].u64, 4);
	assert_int_equal(words(F_WAKE, "cpu=\"7\",state=\"C1\"")[WAKE_NR_LE + 1].u64, 6000);
}

#define NR    1000
#define LIMIT 100

static struct runq_group groups[NR];
static struct runq_group_window rows[NR];
static struct runq_blame blame[NR];
static char paths[NR][64];

/* One window with a wait of each container; half of the culprits ended before they had a name. */
static void unknown_absorb(uint64_t second)
{
	static const uint64_t le_count[RUNQ_NR_LE];
	struct runq_window w = {
		.time_mono_ns = second * 1000000000,
		.sample_ratio = 1.0,
		.le_ns = config.le_ns,
		.nr_le = config.nr_le,
		.groups = rows,
		.nr_groups = NR,
		.blame = blame,
		.nr_blame = NR,
	};

	for (unsigned int i = 0; i < NR; i++) {
		snprintf(paths[i], sizeof(paths[i]), "/kubepods/pod%llu-%u/%u",
			 (unsigned long long)second, i / 3, i);
		groups[i] = (struct runq_group){
			.path = paths[i], .pod_uid = "0a1b", .container_id = "c0ffee"};
		rows[i] = (struct runq_group_window){
			.party = {.group = &groups[i]}, .count = 1, .sum_ns = 7, .le_count = le_count};
		blame[i] = (struct runq_blame){.victim = {.group = &groups[i]},
					       .culprit = {.group = &groups[(i + 1) % NR]},
					       .wait_ns = 7,
					       .count = 1};
		if (i % 2)
			blame[i].culprit = (struct runq_party){.kind = RUNQ_PARTY_GONE};
	}
	runq_absorb(&store, &w);
}

TEST_WITH(test_unknown, setup, teardown)
{
	config.cgroup_limit = config.blame_limit = LIMIT;
	/* Each second has other containers, like jobs that live for less than a second. */
	for (uint64_t second = 1; second <= 5; second++)
		unknown_absorb(second);
	/* There is one more series: (other). */
	assert_true(count(F_RUNQ) <= LIMIT + 1);
	assert_true(count(F_RUNQ_BLAME) <= LIMIT + 1);
	assert_int_equal(sum_of(F_RUNQ, config.nr_le), 5 * NR);
	assert_int_equal(sum_of(F_RUNQ_BLAME, 0), 5 * 7 * NR);
	for (int id = 0; id < FAMILY_NR; id++)
		for (size_t i = 0; i < store.tables[id].nr; i++) {
			const struct series_row *row = store.tables[id].rows[i];

			assert_true(!row->labels || !strstr(row->labels->data, "unknown\""));
			/*
			 * A row with an unknown name has no name label, instead of an empty label.
			 */
			assert_null(row->names);
		}
}

TEST_MAIN()
