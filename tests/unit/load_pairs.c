/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests how long pairs of cgroups ran at the same time on two hyperthreads. */
#include "test.h"

#include "bpf_shim.h"

static long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags);

/* Removes const, so that the tests can write the read-only data of the BPF programs. */
#define const
#include "bpf/load_pairs.bpf.c"
#undef const

#include "measure/load/pairs.h"
#include "present/load.h"
#include "report/findings.h"

#define NR_CPUS	  3
#define NR_GROUPS 4 /* number of groups of tasks; group 0 is the idle task */
#define ROOM	  64

struct small_map {
	struct load_pair_key keys[ROOM];
	s64 ns[ROOM];
	size_t nr, room;
};

static struct small_map even, odd;
static struct load_pair_cpu cpus[NR_CPUS];
static struct kernfs_node node[NR_GROUPS] = {{.id = 99}, {.id = 1}, {.id = 2}, {.id = 3}};
static struct cgroup cgroup[NR_GROUPS];
static struct css_set set[NR_GROUPS];
static struct task_struct task[NR_GROUPS];
static int running[NR_CPUS];

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	struct small_map *small = map == &pairs_odd ? &odd : &even;

	if (map == &pair_cpus)
		return &cpus[*(const u32 *)key];
	for (size_t i = 0; i < small->nr; i++)
		if (!memcmp(&small->keys[i], key, sizeof(small->keys[i])))
			return &small->ns[i];
	return NULL;
}

static long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags)
{
	struct small_map *small = map == &pairs_odd ? &odd : &even;

	if (small->nr == small->room)
		return -1;
	memcpy(&small->keys[small->nr], key, sizeof(small->keys[0]));
	memcpy(&small->ns[small->nr++], value, sizeof(small->ns[0]));
	return 0;
}

static int reset(void **state)
{
	static const u32 siblings[NR_CPUS] = {1, 0, 2};

	even = odd = (struct small_map){.room = ROOM};
	shim_now = 1000;
	pair_window_seq = 0;
	cgroup_v2 = true;
	for (u32 i = 0; i < NR_GROUPS; i++) {
		cgroup[i].kn = &node[i];
		set[i].dfl_cgrp = &cgroup[i];
		task[i] = (struct task_struct){.pid = (int)i, .cgroups = &set[i]};
	}
	for (u32 cpu = 0; cpu < NR_CPUS; cpu++) {
		cpus[cpu] = (struct load_pair_cpu){.sibling = siblings[cpu], .since_ns = shim_now};
		running[cpu] = 0;
	}
	return 0;
}

static void switch_to(u32 cpu, int group)
{
	u64 args[3] = {0, (unsigned long)&task[running[cpu]], (unsigned long)&task[group]};

	shim_cpu = cpu;
	load_pairs_switch(args);
	running[cpu] = group;
}

/* Ends a window as load_pairs_read() does. Returns the number of pairs of cgroups in @sums. */
static size_t end(const struct cpuset *of, struct load_pair_sum *sums)
{
	struct small_map *map = pair_window_seq++ & 1 ? &odd : &even;
	struct load_pair_key key;
	size_t nr = 0;

	for (u32 cpu = 0; cpu < NR_CPUS; cpu++)
		if (cpu <= cpus[cpu].sibling) {
			int64_t ns = load_pairs_charge(cpus, cpu, shim_now, &key);

			nr += load_pairs_add(&key, cpus[cpu].sibling, ns, of, &sums[nr]);
		}
	for (size_t i = 0; i < map->nr; i++)
		nr += load_pairs_add(&map->keys[i], cpus[map->keys[i].cpu].sibling, map->ns[i], of,
				     &sums[nr]);
	map->nr = 0;
	return load_pairs_merge(sums, nr);
}

static void check(const struct load_pair_sum *sums, size_t nr, u64 truth[NR_GROUPS][NR_GROUPS])
{
	size_t expected = 0;

	for (u64 a = 1; a < NR_GROUPS; a++)
		for (u64 b = 1; b < NR_GROUPS; b++)
			expected += truth[a][b] > 0;
	assert_int_equal(nr, expected);
	for (size_t i = 0; i < nr; i++) {
		const u64 *of = truth[sums[i].id[0]];

		assert_int_equal(sums[i].ns, of[sums[i].id[1]]);
		assert_int_equal(sums[i].run_ns, of[0] + of[1] + of[2] + of[3]);
		assert_true(!i || sums[i].ns <= sums[i - 1].ns);
	}
}

TEST_WITH(test_random, reset, NULL)
{
	struct load_pair_sum sums[4 * ROOM];
	u64 truth[NR_GROUPS][NR_GROUPS] = {0};
	struct cpuset of = {0};

	srand(1);
	for (u32 cpu = 0; cpu < NR_CPUS; cpu++)
		cpuset_add(&of, cpu);
	for (int step = 0; step < 20000; step++) {
		u64 ns = (u64)rand() % 1000;

		shim_now += ns;
		truth[running[0]][running[1]] += ns;
		truth[running[1]][running[0]] += ns;
		truth[running[2]][0] += ns;
		switch_to((u32)rand() % NR_CPUS, rand() % NR_GROUPS);
		if (rand() % 50)
			continue;
		check(sums, end(&of, sums), truth);
		memset(truth, 0, sizeof(truth));
	}
}

TEST_WITH(test_selected, reset, NULL)
{
	struct load_pair_sum sums[4 * ROOM];
	struct cpuset of = {0};

	cpuset_add(&of, 1);
	switch_to(0, 1);
	switch_to(1, 2);
	shim_now += 70;
	switch_to(0, 0);
	shim_now += 30;
	assert_int_equal(end(&of, sums), 1);
	assert_int_equal(sums[0].id[0], 2);
	assert_int_equal(sums[0].id[1], 1);
	assert_int_equal(sums[0].ns, 70);
	assert_int_equal(sums[0].run_ns, 100);
}

TEST_WITH(test_full, reset, NULL)
{
	even.room = 0;
	switch_to(0, 1);
	shim_now += 70;
	switch_to(0, 2);
	assert_int_equal(cpus[0].lost_ns, 70);
}

/* The task iterator must not overwrite the cgroup that a task switch has stored. */
TEST_WITH(test_seed, reset, NULL)
{
	struct bpf_iter__task walk = {.task = &task[3]};

	cpus[0].group = LOAD_PAIR_UNKNOWN;
	task[3].on_cpu = 1;
	load_pairs_seed(&walk);
	assert_int_equal(cpus[0].group, 3);
	walk.task = &task[2];
	task[2].on_cpu = 1;
	load_pairs_seed(&walk);
	assert_int_equal(cpus[0].group, 3);
}

static size_t nr_findings(const struct load_window *w, struct report **ret_report)
{
	*ret_report = report_new("load");
	(*ret_report)->window_ns = w->window_ns;
	findings_begin(*ret_report);
	load_findings(w, 1.0, *ret_report);
	return findings_of(*ret_report) ? findings_of(*ret_report)->nr_rows : 0;
}

/* The finding names the two different cgroups that shared a core for the longest time. */
TEST(test_finding)
{
	struct load_pair pairs[] = {
		{"/batch", "/batch", 1000, 2000, {0, 0}},
		{"/app", "/batch", 360, 500, {0, 0}},
		{"/batch", "/app", 360, 2000, {0, 0}},
	};
	struct load_window w = {.window_ns = 1000, .cgroups = true, .pairs = pairs, .nr_pairs = 3};
	struct report *report;

	assert_int_equal(nr_findings(&w, &report), 1);
	assert_string_equal(table_str(findings_of(report), 0, "rule"), "core_shared_cgroup");
	assert_string_equal(table_str(findings_of(report), 0, "finding"),
			    "/app shares its physical core with /batch 72.0 % of its running time");
	report_free(report);
	/* The exporter requests no paths of cgroups, so pairs of cgroups give no finding. */
	w.cgroups = false;
	assert_int_equal(nr_findings(&w, &report), 0);
	report_free(report);
	w.cgroups = true;
	/* A pair that shared the core for less than 5 % of the window gives no finding. */
	pairs[1].ns = pairs[2].ns = 49;
	assert_int_equal(nr_findings(&w, &report), 0);
	report_free(report);
}

TEST_MAIN()
