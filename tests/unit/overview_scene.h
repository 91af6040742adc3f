/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Simulates a machine on which cgroup /app waits, for tests of the overview's findings. */
#ifndef SUBTICK_TESTS_UNIT_OVERVIEW_SCENE_H
#define SUBTICK_TESTS_UNIT_OVERVIEW_SCENE_H

#include "test.h"

#include <math.h>
#include <sched.h>

#include "present/overview.h"
#include "present/overview_rules.h"
#include "report/findings.h"

#define WINDOW_NS 1000000000ULL
#define MS	  1000000ULL
#define NR_CPUS	  2

/* A machine with two cores, on which /app waits. Each test adds the cause of the waits. */
struct scene {
	struct load_cpu_window cpu[NR_CPUS];
	struct load_window load;
	struct runq_group paths[4];
	struct runq_group_window groups[4];
	struct runq_blame blame[4];
	struct runq_window runq;
	struct noise_core cores[NR_CPUS];
	struct noise_source sources[2];
	struct noise_hit hits[2];
	struct noise_sender senders[2];
	struct noise_window noise;
	struct overview_window window;
	struct suspect suspects[SUSPECTS_MAX];
	struct settings settings[4];
};

static const double p99 = 99.0, long_ns = 5e6, short_ns = 50000.0;
static struct scene scene;
static struct report *report;

static inline void add_group(const char *path)
{
	size_t i = scene.runq.nr_groups++;

	scene.paths[i].path = path;
	scene.paths[i].cgroup_id = i + 1;
	scene.groups[i] = (struct runq_group_window){
		.party = {.group = &scene.paths[i]}, .percentile_ns = &long_ns, .sum_ns = 1};
}

static inline void begin(void)
{
	memset(&scene, 0, sizeof(scene));
	scene.load = (struct load_window){.window_ns = WINDOW_NS,
					  .cpu = scene.cpu,
					  .source = "bpf",
					  .what = "test",
					  .parts = (1u << LOAD_NR_PARTS) - 1};
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
		cpuset_add(&scene.load.cpus, cpu);
		scene.cpu[cpu] =
			(struct load_cpu_window){.window_ns = WINDOW_NS, .busy_ratio = 1.0};
	}
	scene.runq = (struct runq_window){.window_ns = WINDOW_NS,
					  .per = RUNQ_PER_CGROUP,
					  .groups = scene.groups,
					  .blame = scene.blame,
					  .has_causes = true,
					  .has_blame = true,
					  .percentiles = &p99,
					  .nr_percentiles = 1,
					  .causes_known = (1u << RUNQ_NR_CAUSES) - 1};
	scene.noise = (struct noise_window){.window_ns = WINDOW_NS,
					    .sources = scene.sources,
					    .hits = scene.hits,
					    .senders.list = scene.senders};
	scene.cores[1].cpu = 1;
	scene.noise.cores = scene.cores;
	scene.noise.nr_cores = NR_CPUS;
	scene.window.load = &scene.load;
	scene.window.suspects.list = scene.suspects;
	scene.window.settings = scene.settings;
	scene.window.runq = &scene.runq;
	scene.window.noise = &scene.noise;
	strcpy(scene.window.mounts.cpu, "/cg");
	strcpy(scene.window.mounts.cpuset, "/cg");
	add_group("/app");
}

static inline void wait_for(const char *culprit, uint64_t woken_ms, uint64_t preempted_ms)
{
	struct runq_group_window *app = &scene.groups[0];
	struct runq_blame *blame = &scene.blame[scene.runq.nr_blame++];
	bool same = culprit && !strcmp(culprit, "/app");

	if (culprit && !same)
		add_group(culprit);
	*blame = (struct runq_blame){.victim = app->party,
				     .culprit = {.kind = RUNQ_PARTY_KTHREADS},
				     .wait_ns = (woken_ms + preempted_ms) * MS,
				     .count = 10};
	if (culprit)
		blame->culprit = same ? app->party : scene.groups[scene.runq.nr_groups - 1].party;
	app->cause_ns[same ? RUNQ_SAME : culprit ? RUNQ_OTHER : RUNQ_KTHREAD] += woken_ms * MS;
	app->cause_ns[RUNQ_PREEMPTED] += preempted_ms * MS;
	app->sum_ns += blame->wait_ns;
}

static inline struct suspect *task(uint32_t pid, const char *name, const char *cgroup, uint64_t ms)
{
	struct suspect *s = &scene.window.suspects.list[scene.window.suspects.nr++];

	*s = (struct suspect){
		.pid = pid, .tgid = pid, .ns = ms * MS, .count = 1, .sleeps = 500, .cpu = 1};
	strcpy(s->name, name);
	strcpy(s->cgroup, cgroup);
	cpuset_add(&s->allowed, 0);
	cpuset_add(&s->allowed, 1);
	return s;
}

/* Adds the row of @count exited processes of the cgroup with id @cgroup_id. */
static inline struct suspect *exited(const char *name, uint64_t ms, uint64_t count,
				     uint64_t cgroup_id)
{
	struct suspect *s = task(0, name, "", ms);

	s->count = count;
	s->cgroup_id = cgroup_id;
	return s;
}

static inline struct settings *settings(const char *path)
{
	struct settings *s = &scene.window.settings[scene.window.nr_settings++];

	strcpy(s->path, path);
	for (unsigned int len = (unsigned int)strlen(path); len > 1; len--)
		if (!path[len] || path[len] == '/')
			s->levels[s->nr++] = (struct settings_level){.len = len, .weight = 100};
	return s;
}

static inline size_t end(void)
{
	struct overview_steal steal = overview_steal(&scene.window);

	report = report_new("overview");
	report->window_ns = WINDOW_NS;
	findings_begin(report);
	overview_findings(&scene.window, &steal, report);
	return findings_of(report)->nr_rows;
}

/* Expects one finding of rule @rule, with a lost time of @ms. */
static inline void expect_lost(const char *rule, uint64_t ms)
{
	assert_int_equal(end(), 1);
	assert_string_equal(table_str(findings_of(report), 0, "rule"), rule);
	assert_true(table_number(findings_of(report), 0, "lost_ns") == (double)(ms * MS));
	report_free(report);
}

/*
 * Compares the first finding with the expected strings. If the first argument is NULL, no finding
 * is expected. An argument after the first that is NULL is not compared. An argument "" expects a
 * null value.
 */
#define EXPECT(...) expect((const char *[6]){__VA_ARGS__})
static inline void expect(const char *const want[6])
{
	static const char *const keys[6] = {"rule",	    "victim",	    "culprit",
					    "next_setting", "next_command", "finding"};
	size_t nr = end();

	if (!want[0])
		assert_int_equal(nr, 0);
	else
		assert_true(nr > 0);
	for (int i = 0; want[0] && i < 6; i++) {
		const char *is = table_str(findings_of(report), 0, keys[i]) ?: "";

		if (want[i])
			assert_string_equal(is, want[i]);
	}
	report_free(report);
}

#endif
