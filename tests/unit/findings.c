/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests that each cause gives a finding with its name, and a quiet machine gives no finding. */
#include "test.h"

#include <math.h>

#include "present/load.h"
#include "present/runq.h"
#include "present/wake.h"
#include "report/findings.h"

#define WINDOW_NS 5000000000ULL
#define NR_CPUS	  4

struct cores {
	struct load_cpu_window truth[NR_CPUS], stat[NR_CPUS];
	struct load_vecs vecs[NR_CPUS];
	struct load_window window;
};

static void quiet_cores(struct cores *cores)
{
	*cores = (struct cores){0};
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
		cores->truth[cpu].window_ns = cores->stat[cpu].window_ns = WINDOW_NS;
		cores->truth[cpu].busy_ratio = cores->stat[cpu].busy_ratio = 0.02;
		cores->truth[cpu].part_ns[LOAD_PART_TASK] = WINDOW_NS / 50;
		cores->truth[cpu].part_ns[LOAD_PART_IDLE] = WINDOW_NS - WINDOW_NS / 50;
		cpuset_add(&cores->window.cpus, cpu);
	}
	cores->window.window_ns = WINDOW_NS;
	cores->window.source = "bpf";
	cores->window.what = "test";
	cores->window.cpu = cores->truth;
	cores->window.parts = (1u << LOAD_NR_PARTS) - 1;
	cores->window.steal_known = cores->window.compare = true;
	cores->window.wrong_ratio = 0.05;
	cores->window.nr_shown = 1;
	cores->window.shown[0].source = "procstat";
	cores->window.shown[0].cpu = cores->stat;
}

static void add_part(struct cores *cores, unsigned int cpu, enum load_part part, double ratio)
{
	uint64_t ns = (uint64_t)(ratio * WINDOW_NS);

	cores->truth[cpu].part_ns[part] += ns;
	cores->truth[cpu].part_ns[LOAD_PART_IDLE] -= ns;
	if (part != LOAD_PART_STEAL)
		cores->truth[cpu].busy_ratio += ratio;
}

static struct report *load_of(struct cores *cores)
{
	struct report *report;

	assert_int_equal(load_report(&cores->window, &report), 0);
	assert_non_null(findings_of(report));
	return report;
}

static void assert_first(struct report *report, const char *rule, const char *text)
{
	assert_true(findings_of(report)->nr_rows > 0);
	assert_string_equal(table_str(findings_of(report), 0, "rule"), rule);
	assert_string_equal(table_str(findings_of(report), 0, "finding"), text);
	assert_non_null(table_str(findings_of(report), 0, "next"));
}

static size_t nr_findings(struct report *report)
{
	size_t nr = findings_of(report)->nr_rows;

	report_free(report);
	return nr;
}

/*
 * Checks that @report has @nr findings, and the rule and the text of the first finding. Frees
 * @report.
 */
static void expect_findings(struct report *report, size_t nr, const char *rule, const char *text)
{
	assert_first(report, rule, text);
	assert_int_equal(nr_findings(report), nr);
}

TEST(quiet_machine)
{
	struct cores cores;

	quiet_cores(&cores);
	assert_int_equal(nr_findings(load_of(&cores)), 0);
	cores.stat[0].busy_ratio = 0.06;
	assert_int_equal(nr_findings(load_of(&cores)), 0);
}

TEST(hidden_softirqs)
{
	struct cores cores;
	struct report *report;

	quiet_cores(&cores);
	add_part(&cores, 3, LOAD_PART_SOFTIRQ_ON_IDLE, 0.3);
	cores.vecs[3].ns[3] = WINDOW_NS * 3 / 10; /* NET_RX */
	cores.vecs[3].ns[1] = 1000;		  /* TIMER */
	cores.window.cpu_vecs = cores.vecs;
	report = load_of(&cores);
	assert_first(report, "procstat_low",
		     "CPU 3 is 32.0 % busy, mostly with NET_RX; /proc/stat, top and mpstat show "
		     "2.0 %");
	assert_int_equal(findings_of(report)->nr_rows, 2);
	assert_string_equal(table_str(findings_of(report), 1, "finding"),
			    "CPU 3 spends 30.0 % in softirqs, mostly NET_RX while no task runs: no "
			    "task's CPU time contains it");
	assert_true(fabs(table_number(findings_of(report), 0, "lost_ns") - 0.3 * WINDOW_NS) < 10);
	report_free(report);
}

/*
 * Tasks that sleep at every tick are missing from /proc/stat. One finding names all cores with such
 * tasks.
 */
TEST(hidden_tasks)
{
	struct cores cores;

	quiet_cores(&cores);
	add_part(&cores, 1, LOAD_PART_TASK, 0.2);
	add_part(&cores, 2, LOAD_PART_TASK, 0.4);
	expect_findings(
		load_of(&cores), 1, "procstat_low",
		"CPUs 1-2 are on average 32.0 % busy, mostly with tasks; /proc/stat, top and "
		"mpstat show 2.0 %");
}

TEST(too_much_shown)
{
	struct cores cores;
	struct report *report;

	quiet_cores(&cores);
	cores.stat[0].busy_ratio = 0.5;
	report = load_of(&cores);
	assert_first(report, "procstat_high",
		     "CPU 0 is 2.0 % busy; /proc/stat, top and mpstat show 50.0 %");
	report_free(report);
}

/*
 * Both siblings of a core are busy for 80 % of the time, and another core is idle for 50 %. The two
 * times overlap for at least 50 % + 80 % - 100 % = 30 %.
 */
TEST(shared_core)
{
	struct load_core list[] = {
		{.cpu = {0, 2}, .window_ns = WINDOW_NS, .busy_ns = {0, WINDOW_NS / 5, WINDOW_NS / 5 * 4}},
		{.cpu = {1, 3}, .window_ns = WINDOW_NS, .busy_ns = {WINDOW_NS / 2, WINDOW_NS / 2, 0}},
	};
	struct cores cores;
	struct report *report;

	quiet_cores(&cores);
	cores.window.cores = list;
	cores.window.nr_cores = 2;
	report = load_of(&cores);
	assert_first(report, "core_shared",
		     "CPUs 0 and 2 of one physical core are both busy at least 30.0 % of the time "
		     "while the core of CPU 1 is idle");
	report_free(report);
	/* No finding: CPU 1 may never have been idle while CPUs 0 and 2 were busy. */
	list[1].busy_ns[LOAD_SIBLINGS_NONE] = WINDOW_NS / 5;
	assert_int_equal(nr_findings(load_of(&cores)), 0);
}

/* In a window of 0.1 s, an error of one unit in /proc/stat is 10 percentage points. */
TEST(short_window)
{
	struct cores cores;

	quiet_cores(&cores);
	cores.stat[0].busy_ratio = 0.5;
	cores.window.window_ns = 100000000;
	assert_int_equal(nr_findings(load_of(&cores)), 0);
}

TEST(no_figure)
{
	struct cores cores;

	quiet_cores(&cores);
	add_part(&cores, 0, LOAD_PART_TASK, 0.4);
	cores.truth[0].flags = LOAD_OFFLINE;
	assert_int_equal(nr_findings(load_of(&cores)), 0);
	cores.truth[0].flags = 0;
	cores.stat[0].flags = LOAD_READ_FAILED;
	assert_int_equal(nr_findings(load_of(&cores)), 0);
}

TEST(stolen_time)
{
	struct cores cores;
	struct report *report;

	quiet_cores(&cores);
	add_part(&cores, 2, LOAD_PART_STEAL, 0.12);
	report = load_of(&cores);
	assert_first(report, "steal", "the hypervisor takes 12.0 % of the time of CPU 2");
	report_free(report);
	cores.stat[2].busy_ratio = 0.9;
	assert_int_equal(nr_findings(load_of(&cores)), 1);
	cores.stat[1].busy_ratio = 0.9;
	assert_int_equal(nr_findings(load_of(&cores)), 2);
}

#define MS 1000000ULL

struct queue {
	struct runq_group who[30];
	struct runq_group_window groups[30];
	double p99[30];
	char names[30][16];
	struct runq_blame blame[4];
	struct runq_window window;
	double percentile;
};

static void add_group(struct queue *queue, const char *path)
{
	size_t i = queue->window.nr_groups++;

	queue->who[i] = (struct runq_group){.key = i + 1, .path = path, .cpu = UINT32_MAX};
	queue->p99[i] = 57.1e6;
	queue->groups[i] = (struct runq_group_window){
		.party = {.kind = RUNQ_PARTY_GROUP, .group = &queue->who[i]},
		.count = 1000,
		.avg_ns = 1000,
		.percentile_ns = &queue->p99[i],
		.judged_ns = NAN,
	};
}

static void quiet_queue(struct queue *queue)
{
	*queue = (struct queue){.percentile = 99.0};
	queue->window = (struct runq_window){
		.window_ns = WINDOW_NS,
		.per = RUNQ_PER_CGROUP,
		.source = RUNQ_SOURCE_SCHED_INFO,
		.hierarchy = RUNQ_HIERARCHY_V2,
		.sample_ratio = 1.0,
		.percentiles = &queue->percentile,
		.nr_percentiles = 1,
		.has_causes = true,
		.causes_known = (1u << RUNQ_NR_CAUSES) - 1,
		.groups = queue->groups,
		.has_blame = true,
		.blame = queue->blame,
		.schedstat_ratio = 1.0,
		.missing_from_run_delay_ratio = 0.0,
	};
	add_group(queue, "/web");
	add_group(queue, "/batch");
	for (size_t i = 0; i < 2; i++) {
		queue->groups[i].sum_ns = 5 * MS;
		queue->groups[i].cause_ns[RUNQ_SAME] = 5 * MS;
	}
}

static void add_wait(struct queue *queue, size_t group, enum runq_cause cause, uint64_t ns)
{
	queue->groups[group].sum_ns += ns;
	queue->groups[group].cause_ns[cause] += ns;
}

static struct report *queue_of(struct queue *queue)
{
	struct report *report;

	assert_int_equal(runq_report(&queue->window, NULL, &report), 0);
	assert_non_null(findings_of(report));
	return report;
}

TEST(quiet_queues)
{
	struct queue queue;

	quiet_queue(&queue);
	assert_int_equal(nr_findings(queue_of(&queue)), 0);
}

TEST(throttled)
{
	struct queue queue;

	quiet_queue(&queue);
	add_wait(&queue, 0, RUNQ_THROTTLED, 3200 * MS);
	/* A wait that began before the window gives no finding. */
	add_wait(&queue, 0, RUNQ_UNKNOWN, 14200 * MS);
	expect_findings(queue_of(&queue), 1, "quota",
			"/web waits for its CPU quota: 640 ms per second, 18 % of its waiting");
	queue.window.causes_known &= ~(1u << RUNQ_THROTTLED);
	assert_int_equal(nr_findings(queue_of(&queue)), 0);
}

TEST(noisy_neighbour)
{
	struct queue queue;
	struct report *report;

	quiet_queue(&queue);
	add_wait(&queue, 0, RUNQ_OTHER, 70 * MS);
	queue.blame[0] = (struct runq_blame){.victim = queue.groups[0].party,
					     .culprit = queue.groups[1].party,
					     .wait_ns = 70 * MS, .count = 10};
	/* Waits behind the same cgroup or unknown tasks do not count for the rule neighbour. */
	queue.blame[1] = (struct runq_blame){.victim = queue.groups[1].party,
					     .culprit = queue.groups[1].party,
					     .wait_ns = 60 * MS, .count = 10};
	queue.blame[2] = (struct runq_blame){.victim = queue.groups[0].party,
					     .culprit = {.kind = RUNQ_PARTY_UNKNOWN},
					     .wait_ns = 900 * MS, .count = 10};
	queue.window.nr_blame = 3;
	report = queue_of(&queue);
	assert_first(report, "neighbour", "/batch makes /web wait: 14 ms per second (p99 57.1 ms)");
	assert_string_equal(table_str(findings_of(report), 1, "finding"),
			    "tasks of /batch wait for each other: 12 ms per second (p99 57.1 ms)");
	assert_int_equal(nr_findings(report), 2);
	queue.window.has_blame = false;
	queue.window.nr_blame = 0;
	report = queue_of(&queue);
	assert_first(report, "others",
		     "/web waits for tasks of other groups: 14 ms per second (p99 57.1 ms)");
	report_free(report);
}

TEST(other_causes)
{
	static const struct {
		enum runq_cause cause;
		const char *rule, *text;
	} cases[] = {
		{RUNQ_SAME, "same_group", "tasks of /web wait for each other: 81 ms per second"},
		{RUNQ_KTHREAD, "kernel_threads", "/web waits for kernel threads: 80 ms per second"},
		{RUNQ_IDLE, "idle_exit",
		 "/web waits for idle cores to wake up: 80 ms per second"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct queue queue;

		quiet_queue(&queue);
		queue.window.nr_percentiles = 0;
		queue.window.has_blame = false;
		add_wait(&queue, 0, cases[i].cause, 400 * MS);
		expect_findings(queue_of(&queue), 1, cases[i].rule, cases[i].text);
	}
}

/* Tasks that never sleep and share a core give no finding, with or without blame. */
TEST(never_sleeps)
{
	struct queue queue;
	struct report *report;

	quiet_queue(&queue);
	add_wait(&queue, 0, RUNQ_PREEMPTED, 3000 * MS);
	queue.blame[0] = (struct runq_blame){.victim = queue.groups[0].party,
					     .culprit = queue.groups[1].party,
					     .wait_ns = 3000 * MS, .count = 1000};
	queue.window.nr_blame = 1;
	assert_int_equal(nr_findings(queue_of(&queue)), 0);
	/* A third of the wait time of /web belongs to waits that begin with a wake-up. */
	add_wait(&queue, 0, RUNQ_OTHER, 1495 * MS);
	queue.blame[0].wait_ns += 1495 * MS;
	report = queue_of(&queue);
	assert_first(report, "neighbour",
		     "/batch makes /web wait: 300 ms per second (p99 57.1 ms)");
	assert_string_equal(table_str(findings_of(report), 0, "victim"), "/web");
	assert_string_equal(table_str(findings_of(report), 0, "culprit"), "/batch");
	assert_int_equal(nr_findings(report), 1);
	queue.window.has_blame = false;
	queue.window.nr_blame = 0;
	queue.groups[0].cause_ns[RUNQ_OTHER] = 0;
	assert_int_equal(nr_findings(queue_of(&queue)), 0);
}

TEST(idle_states)
{
	struct runq_idle_state states[2];
	struct queue queue;

	quiet_queue(&queue);
	for (size_t i = 0; i < 2; i++)
		states[i] = (struct runq_idle_state){.party = queue.groups[0].party,
						     .name = {'C', i ? '6' : '1'},
						     .index = i,
						     .count = 100,
						     .wait_ns = i ? 400 * MS : 40 * MS};
	queue.window.has_idle_states = true;
	queue.window.idle_states = states;
	queue.window.nr_idle_states = 2;
	expect_findings(queue_of(&queue), 1, "idle_state",
			"wake-ups from C6 make /web wait: 80 ms per second");
	add_wait(&queue, 0, RUNQ_IDLE, 440 * MS);
	expect_findings(queue_of(&queue), 1, "idle_state",
			"wake-ups from C6 make /web wait: 80 ms per second");
	add_wait(&queue, 0, RUNQ_IDLE, 1000 * MS);
	expect_findings(queue_of(&queue), 2, "idle_exit",
			"/web waits for idle cores to wake up: 200 ms per second");
}

TEST(avoidable)
{
	struct queue queue;
	struct report *report;

	quiet_queue(&queue);
	queue.groups[0].avoidable_ns = queue.groups[0].avoidable_most_ns = 200 * MS;
	queue.groups[0].idle_cpu = 3;
	queue.groups[1].excluded_ns = 100 * MS;
	queue.groups[1].excluded_cpu = 2;
	queue.groups[1].avoidable_most_ns = 30 * MS;
	add_group(&queue, "/other");
	queue.groups[2].party = (struct runq_party){.kind = RUNQ_PARTY_OTHER};
	queue.groups[2].avoidable_ns = queue.groups[2].avoidable_most_ns =
		queue.groups[2].excluded_ns = UINT64_MAX;
	assert_int_equal(nr_findings(queue_of(&queue)), 0);
	queue.window.has_avoidable = true;
	report = queue_of(&queue);
	assert_first(report, "avoidable",
		     "/web waits while CPU 3, which it may use, is idle: 40 ms per second");
	assert_int_equal(findings_of(report)->nr_rows, 2);
	assert_string_equal(table_str(findings_of(report), 1, "finding"),
			    "/batch waits while CPU 2, which its affinity or cpuset excludes, is "
			    "idle: 20 ms per second");
	assert_non_null(strstr(report->notes[0], "of /batch are between 0 and 30 ms"));
	report_free(report);
}

/* The finding about pressure names the innermost cgroup above the threshold, and the main cause. */
TEST(pressure)
{
	static const struct runq_group root = {.path = "/"}, pods = {.path = "/kubepods"};
	struct runq_pressed pressed[3];
	struct queue queue;
	struct report *report;

	quiet_queue(&queue);
	pressed[0] = (struct runq_pressed){.group = &root, .below_ns = 700 * MS};
	pressed[0].times.waiting_ns[RUNQ_PRESSURE_CONTENTION] = 1500 * MS;
	pressed[1] = (struct runq_pressed){.group = &pods, .below_ns = 700 * MS};
	pressed[1].times.waiting_ns[RUNQ_PRESSURE_QUOTA] = 700 * MS;
	pressed[2] = (struct runq_pressed){.group = queue.groups[0].party.group};
	pressed[2].times.waiting_ns[RUNQ_PRESSURE_QUOTA] = 600 * MS;
	pressed[2].times.waiting_ns[RUNQ_PRESSURE_IDLE] = 100 * MS;
	pressed[2].times.stalled_ns[RUNQ_PRESSURE_QUOTA] = 450 * MS;
	queue.window.has_pressure = true;
	queue.window.pressed = pressed;
	queue.window.nr_pressed = 3;
	report = queue_of(&queue);
	assert_first(report, "pressure",
		     "/web waited 14.0 % of the wall time for a core, 12.0 % for CPU quota; in 9.0 "
		     "% none of its tasks ran");
	assert_non_null(strstr(table_str(findings_of(report), 0, "next"), "subtick --once"));
	assert_int_equal(table_number(findings_of(report), 0, "lost_ns"), 700 * MS);
	assert_int_equal(nr_findings(report), 1);
	/* A finding that names no cgroup requires at least 10 ms of waiting per second. */
	for (size_t i = 0; i < 3; i++)
		pressed[i].below_ns = 49 * MS;
	queue.window.nr_pressed = 1;
	report = queue_of(&queue);
	assert_first(report, "pressure",
		     "somebody on this machine waited 30.0 % of the wall time for a core, 30.0 % "
		     "for cores that other tasks had; in 0.0 % none of its tasks ran");
	assert_non_null(strstr(table_str(findings_of(report), 0, "next"), "subtick --once"));
	assert_int_equal(nr_findings(report), 1);
	pressed[0].times.waiting_ns[RUNQ_PRESSURE_CONTENTION] = 49 * MS;
	assert_int_equal(nr_findings(queue_of(&queue)), 0);
}

static void quiet_wakes(struct wake_window *w, struct wake_state *states)
{
	*w = (struct wake_window){.window_ns = WINDOW_NS,
				  .sources = 1u << WAKE_PASSIVE,
				  .uncertainty_ns = 500,
				  .states = states,
				  .nr_states = 2 * NR_CPUS};
	for (unsigned int i = 0; i < 2 * NR_CPUS; i++)
		states[i] = (struct wake_state){
			.cpu = i / 2,
			.index = 1 + i % 2,
			.source = WAKE_PASSIVE,
			.name = {'C', i % 2 ? '6' : '1'},
			.claimed_ns = i % 2 ? 133000 : 2000,
			.verdict = WAKE_WITHIN,
			.summary = {.count = 50, .median_ns = i % 2 ? 100000 : 1000},
			.sum_ns = i % 2 ? 5 * MS : 50000,
		};
}

static struct report *wakes_of(const struct wake_window *w)
{
	struct report *report;

	assert_int_equal(wake_report(w, &report), 0);
	assert_non_null(findings_of(report));
	return report;
}

TEST(wakes)
{
	struct wake_state states[2 * NR_CPUS];
	struct wake_window w;

	quiet_wakes(&w, states);
	assert_int_equal(nr_findings(wakes_of(&w)), 0);
	states[3].sum_ns = states[5].sum_ns = 250 * MS;
	expect_findings(
		wakes_of(&w), 1, "wake_exit",
		"timers of CPUs 1-2 come late because of wake-ups from C6: 100 ms per second");
}

/* A median latency above the claimed latency gives a finding, but a maximum does not. */
TEST(wake_claims)
{
	struct wake_state states[2 * NR_CPUS];
	struct wake_window w;
	struct report *report;

	quiet_wakes(&w, states);
	states[7].verdict = WAKE_EXCEEDS;
	assert_int_equal(nr_findings(wakes_of(&w)), 0);
	/* No finding: the uncertainty exceeds the median minus the claim. */
	states[7].summary.median_ns = 133400;
	assert_int_equal(nr_findings(wakes_of(&w)), 0);
	states[7].summary.median_ns = 180000;
	report = wakes_of(&w);
	assert_first(report, "wake_exceeds",
		     "CPU 3 takes 180 us to leave C6 (median); the driver claims 133 us");
	assert_true(table_number(findings_of(report), 0, "lost_ns") == 50 * 47000);
	report_free(report);
	w.uncertainty_ns = WAKE_UNKNOWN;
	assert_int_equal(nr_findings(wakes_of(&w)), 0);
}

/*
 * A wait counts in the window in which the wait ends, so a wait can be longer than its window. A
 * note explains such a wait.
 */
TEST(longer_than_window)
{
	static const char *const says =
		"the longest wait, 14.2 s of /batch, began before this window of 5 s";
	struct queue queue;
	struct report *report;

	quiet_queue(&queue);
	for (size_t i = 0; i < 2; i++) {
		queue.groups[i].count = 1;
		queue.groups[i].max_ns = WINDOW_NS;
	}
	report = queue_of(&queue);
	for (size_t i = 0; i < report->nr_notes; i++)
		assert_null(strstr(report->notes[i], "longest wait"));
	report_free(report);
	queue.groups[0].max_ns = WINDOW_NS + 1;
	queue.groups[1].max_ns = 14200 * MS;
	report = queue_of(&queue);
	assert_true(report->nr_notes > 0);
	assert_non_null(strstr(report->notes[report->nr_notes - 1], says));
	report_free(report);
}

/*
 * The report names an enabled sched_ext scheduler. A note explains the cause `throttled` under this
 * scheduler.
 */
TEST(bpf_scheduler)
{
	struct queue queue;
	struct report *report;
	size_t nr;

	quiet_queue(&queue);
	report = queue_of(&queue);
	nr = report->nr_notes;
	assert_null(table_str(report->fields, 0, "scheduler"));
	report_free(report);
	strcpy(queue.window.scheduler.name, "lavd");
	report = queue_of(&queue);
	assert_string_equal(table_str(report->fields, 0, "scheduler"), "lavd");
	assert_int_equal(report->nr_notes, nr + 2);
	assert_non_null(strstr(report->notes[nr], "lavd decides which of the ordinary tasks runs"));
	assert_non_null(strstr(report->notes[nr + 1], "throttled is quota of the fair class only"));
	report_free(report);
	queue.window.scheduler.partial = true;
	queue.window.has_causes = queue.window.has_blame = false;
	queue.window.scheduler_changed = true;
	report = queue_of(&queue);
	assert_non_null(strstr(report->notes[report->nr_notes - 2], "policy SCHED_EXT"));
	assert_non_null(strstr(report->notes[report->nr_notes - 1], "was enabled or disabled"));
	report_free(report);
}

TEST(without_causes)
{
	struct queue queue;

	quiet_queue(&queue);
	add_wait(&queue, 1, RUNQ_WHOLE, 20000 * MS);
	queue.window.has_causes = queue.window.has_blame = false;
	queue.window.causes_known = 0;
	expect_findings(queue_of(&queue), 1, "waits",
			"/batch waits for a core: on average 4.0 tasks wait (p99 57.1 ms)");
}

TEST(order_and_limit)
{
	struct queue queue;
	struct report *report;
	const struct table *findings;

	quiet_queue(&queue);
	queue.window.has_blame = false;
	for (size_t i = 0; i < 26; i++) {
		snprintf(queue.names[i], sizeof(queue.names[i]), "/g%zu", i);
		add_group(&queue, queue.names[i]);
		add_wait(&queue, 2 + i, RUNQ_SAME, (100 + 37 * i % 26) * MS);
	}
	report = queue_of(&queue);
	findings = findings_of(report);
	assert_int_equal(findings->nr_rows, FINDINGS_MAX);
	for (size_t i = 0; i < FINDINGS_MAX; i++)
		assert_true(table_number(findings, i, "lost_ns") == (125 - (double)i) * MS);
	assert_int_equal(report->nr_notes, 2);
	assert_non_null(strstr(report->notes[0], "more findings than are listed"));
	report_free(report);
}

TEST_MAIN()
