/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recorded machines: from the figures that a machine gave with --json the findings are made again.
 * Each known cause gives its sentence first, a quiet machine gives none. The files of recorded/ are
 * from a guest of two cores (arm64, Linux 6.12), each with the load that its name says.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "present/load.h"
#include "present/runq.h"
#include "report/findings.h"

#define MAX_CPUS   8
#define MAX_GROUPS 64

static const struct recording {
	const char *file, *rule, *finding; /* NULL: a quiet machine */
} recordings[] = {
	{"quiet.json", NULL, NULL},
	{"load-quiet.json", NULL, NULL},
	{"quota.json", "quota",
	 "/app waits for its CPU quota: 798 ms per second, 98 % of its waiting (p99 202 ms)"},
	/* /batch never sleeps and gets its share of the core. */
	{"neighbour.json", NULL, NULL},
	{"net-rx.json", "procstat_low",
	 "CPU 1 is 13.8 % busy, mostly with NET_RX; /proc/stat, top and mpstat show 1.4 %"},
	{"idle-states.json", "idle_state", "wake-ups from deep-sleep make /web wait: 54 ms per second"},
};

static double number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static uint64_t whole(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

/* ---- load: what the findings look at ------------------------------------------------------- */

static void read_cpu(const json_t *row, struct load_cpu_window *cpu, struct load_cpu_window *stat)
{
	char key[64];

	cpu->window_ns = stat->window_ns = whole(row, "window_ns");
	cpu->busy_ratio = number(row, "busy_ratio");
	for (int part = 0; part < LOAD_NR_PARTS; part++) {
		snprintf(key, sizeof(key), "%s_ratio", load_part_name(part));
		if (!isnan(number(row, key)))
			cpu->part_ns[part] = (uint64_t)(number(row, key) * (double)cpu->window_ns);
	}
	stat->busy_ratio = number(json_object_get(row, "compare"), "procstat_busy_ratio");
}

static void read_vecs(const json_t *root, struct load_vecs vecs[MAX_CPUS])
{
	json_t *row;
	size_t i;

	json_array_foreach (json_object_get(root, "softirqs"), i, row) {
		const char *name = json_string_value(json_object_get(row, "vec"));
		unsigned int cpu = whole(row, "cpu");

		for (int vec = 0; vec < LOAD_NR_VECS && cpu < MAX_CPUS; vec++)
			if (name && !strcmp(name, load_vec_name(vec)))
				vecs[cpu].ns[vec] = (uint64_t)(number(row, "softirq_ratio") *
							       (double)whole(root, "window_ns"));
	}
}

static int read_load(const json_t *root, struct report **ret_report)
{
	struct load_vecs vecs[MAX_CPUS] = {0};
	struct load_cpu_window cpus[MAX_CPUS] = {0}, stat[MAX_CPUS] = {0};
	struct load_window w = {.window_ns = whole(root, "window_ns"),
				.source = "bpf",
				.what = "recorded",
				.cpu = cpus,
				.parts = (1u << LOAD_NR_PARTS) - 1,
				.compare = true,
				.wrong_ratio = number(root, "wrong_ratio"),
				.nr_shown = 1,
				.shown = {{"procstat", stat}}};
	size_t i;
	json_t *row;

	json_array_foreach (json_object_get(root, "cpus"), i, row) {
		unsigned int cpu = whole(row, "cpu");

		if (cpu >= MAX_CPUS)
			return -1;
		read_cpu(row, &cpus[cpu], &stat[cpu]);
		cpuset_add(&w.cpus, cpu);
	}
	if (json_object_get(root, "softirqs")) {
		read_vecs(root, vecs);
		w.cpu_vecs = vecs;
	}
	return load_report(&w, ret_report);
}

/* ---- runq ---------------------------------------------------------------------------------- */

struct queue {
	struct runq_group who[MAX_GROUPS];
	struct runq_group_window groups[MAX_GROUPS];
	double p99[MAX_GROUPS], percentile;
	struct runq_blame blame[MAX_GROUPS];
	struct runq_idle_state idle[MAX_GROUPS];
	struct runq_window window;
};

static void read_causes(struct queue *q, const json_t *causes, struct runq_group_window *group)
{
	static const struct {
		enum runq_cause cause;
		const char *key;
	} keys[] = {{RUNQ_IDLE, "idle_exit_ns"},		{RUNQ_SAME, "same_group_ns"},
		    {RUNQ_OTHER, "other_group_ns"},	{RUNQ_KTHREAD, "kernel_thread_ns"},
		    {RUNQ_PREEMPTED, "preempted_ns"},	{RUNQ_THROTTLED, "throttled_ns"}};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (isnan(number(causes, keys[i].key)))
			continue;
		group->cause_ns[keys[i].cause] = whole(causes, keys[i].key);
		q->window.causes_known |= 1u << keys[i].cause;
	}
}

/* A group of the recording by its path; else what is no group, such as "(quota)". */
static struct runq_party party_of(const struct queue *q, const char *path)
{
	for (size_t i = 0; path && i < q->window.nr_groups; i++)
		if (!strcmp(q->who[i].path, path))
			return q->groups[i].party;
	return (struct runq_party){.kind = RUNQ_PARTY_OTHER};
}

static void read_idle_states(struct queue *q, const json_t *root)
{
	json_t *row;
	size_t i;

	q->window.has_idle_states = json_object_get(root, "idle_states");
	q->window.idle_states = q->idle;
	json_array_foreach (json_object_get(root, "idle_states"), i, row) {
		struct runq_idle_state *state = &q->idle[i];

		if (i == MAX_GROUPS)
			break;
		*state = (struct runq_idle_state){
			.party = party_of(q, json_string_value(json_object_get(row, "cgroup"))),
			.index = (uint32_t)whole(row, "index"),
			.claimed_ns = whole(row, "claimed_ns"),
			.count = whole(row, "count"),
			.wait_ns = whole(row, "wait_ns")};
		snprintf(state->name, sizeof(state->name), "%s",
			 json_string_value(json_object_get(row, "name")));
		q->window.nr_idle_states++;
	}
}

static int read_runq(const json_t *root, struct report **ret_report)
{
	struct queue *q = calloc(1, sizeof(*q));
	size_t i;
	json_t *row;
	int rc;

	if (!q)
		return -1;
	q->percentile = 99.0;
	q->window = (struct runq_window){.window_ns = whole(root, "window_ns"),
					 .sample_ratio = 1.0,
					 .percentiles = &q->percentile,
					 .nr_percentiles = 1,
					 .has_causes = true,
					 .has_blame = true,
					 .groups = q->groups,
					 .blame = q->blame};
	json_array_foreach (json_object_get(root, "groups"), i, row) {
		struct runq_group_window *group = &q->groups[i];

		if (i == MAX_GROUPS)
			break;
		q->who[i] = (struct runq_group){
			.key = i + 1,
			.path = json_string_value(json_object_get(row, "cgroup")),
			.cpu = UINT32_MAX};
		q->p99[i] = number(row, "p99_ns");
		*group = (struct runq_group_window){
			.party = {.kind = RUNQ_PARTY_GROUP, .group = &q->who[i]},
			.count = whole(row, "count"),
			.sum_ns = whole(row, "sum_ns"),
			.percentile_ns = &q->p99[i],
			.judged_ns = NAN};
		read_causes(q, json_object_get(row, "causes"), group);
		q->window.nr_groups++;
	}
	json_array_foreach (json_object_get(root, "blame"), i, row) {
		if (i == MAX_GROUPS)
			break;
		q->blame[q->window.nr_blame++] = (struct runq_blame){
			.victim = party_of(q, json_string_value(json_object_get(row, "victim"))),
			.culprit = party_of(q, json_string_value(json_object_get(row, "culprit"))),
			.wait_ns = whole(row, "wait_ns")};
	}
	read_idle_states(q, root);
	rc = runq_report(&q->window, NULL, ret_report);
	free(q);
	return rc;
}

/* ---- both ---------------------------------------------------------------------------------- */

static bool is_right(const struct recording *r, const struct report *report)
{
	const struct table *findings = findings_of(report);
	const char *rule = table_str(findings, 0, "rule"), *text = table_str(findings, 0, "finding");

	printf("# %s\n", text ?: "no finding");
	if (!r->rule)
		return !findings->nr_rows;
	return rule && !strcmp(rule, r->rule) && text && !strcmp(text, r->finding);
}

int main(int argc, char **argv)
{
	size_t nr = sizeof(recordings) / sizeof(recordings[0]), failed = 0;

	printf("1..%zu\n", nr);
	for (size_t i = 0; i < nr && argc == 2; i++) {
		struct report *report = NULL;
		char path[4096];
		const char *schema;
		json_t *root;
		bool good = false;

		snprintf(path, sizeof(path), "%s/recorded/%s", argv[1], recordings[i].file);
		root = json_load_file(path, 0, NULL);
		schema = json_string_value(json_object_get(root, "schema")) ?: "";
		if (!(strcmp(schema, "subtick.load/1") ? read_runq : read_load)(root, &report))
			good = is_right(&recordings[i], report);
		printf("%sok %zu - %s: %s\n", good ? "" : "not ", i + 1, recordings[i].file,
		       recordings[i].rule ?: "no finding");
		failed += !good;
		report_free(report);
		json_decref(root);
	}
	return argc != 2 || failed;
}
