/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests waits for cores that wake up from idle: each switch, and the counts per window. */
#include "test.h"

#include "bpf_shim.h"

static long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags);

/* Removes const, so that the tests can write the read-only data of the BPF programs. */
#define const
#include "bpf/runq_idle.bpf.c"
#undef const

#include "measure/runq/idle.h"
#include "present/runq.h"

#define NR_ROWS 3

static struct runq_idle_cpu core[2];
static struct runq_idle_task entries[RUNQ_IDLE_TASKS];
static struct runq_idle_row row[NR_ROWS];
static int nr_rows;

static struct cgroup group[2] = {{.self = {.serial_nr = 11}}, {.self = {.serial_nr = 22}}};
static struct css_set set[2] = {{.dfl_cgrp = &group[0]}, {.dfl_cgrp = &group[1]}};
static struct task_struct idle,
	task[2] = {{.pid = 5, .cgroups = &set[0]}, {.pid = 6, .cgroups = &set[1]}};

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	u32 at = *(const u32 *)key;

	if (map == &idle_cpus)
		return at < 2 ? &core[at] : NULL;
	if (map == &idle_tasks)
		return &entries[at];
	for (int i = 0; i < nr_rows; i++)
		if (!memcmp(&row[i].key, key, sizeof(row[i].key)))
			return &row[i].waits;
	return NULL;
}

static long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags)
{
	assert_ptr_equal(map, &idle_waits);
	if (nr_rows == NR_ROWS)
		return -1;
	memcpy(&row[nr_rows].key, key, sizeof(row[0].key));
	memcpy(&row[nr_rows++].waits, value, sizeof(row[0].waits));
	return 0;
}

static int reset(void **state)
{
	memset(core, 0, sizeof(core));
	memset(entries, 0, sizeof(entries));
	memset(row, 0, sizeof(row));
	nr_rows = 0;
	shim_cpu = 1;
	cgroup_v2 = true;
	return 0;
}

static void sleep_in(u32 state)
{
	runq_idle_enter(NULL, state, 1);
	runq_idle_enter(NULL, PWR_EVENT_EXIT, 1);
}

static void wake(u64 now, struct task_struct *who)
{
	shim_now = now;
	runq_idle_waking(NULL, who);
}

static void swap(u64 now, struct task_struct *prev, struct task_struct *next)
{
	u64 args[] = {0, (unsigned long)prev, (unsigned long)next};

	shim_now = now;
	runq_idle_leave(args);
}

TEST_WITH(test_by_state, reset, NULL)
{
	sleep_in(3);
	wake(1000, &task[0]);
	swap(151000, &idle, &task[0]);
	assert_int_equal(nr_rows, 1);
	assert_int_equal(row[0].key.group, 11);
	assert_int_equal(row[0].key.state, 3);
	assert_int_equal(row[0].waits.count, 1);
	assert_int_equal(row[0].waits.wait_ns, 150000);
	/*
	 * One cgroup waits for a core in a shallow idle state, another cgroup for a core in a deep
	 * idle state.
	 */
	sleep_in(1);
	wake(200000, &task[0]);
	swap(202000, &idle, &task[0]);
	sleep_in(3);
	wake(300000, &task[1]);
	swap(500000, &idle, &task[1]);
	sleep_in(3);
	wake(600000, &task[0]);
	swap(610000, &idle, &task[0]);
	assert_int_equal(nr_rows, 3);
	assert_int_equal(row[1].key.state, 1);
	assert_int_equal(row[2].key.group, 22);
	assert_int_equal(row[0].waits.count, 2);
	assert_int_equal(row[0].waits.wait_ns, 160000);
}

/*
 * A wait behind another task or after a preemption is no wait for an idle core. A table entry of
 * another PID is ignored.
 */
TEST_WITH(test_others, reset, NULL)
{
	struct task_struct alias = {.pid = 5 + RUNQ_IDLE_TASKS, .cgroups = &set[0]};

	sleep_in(3);
	wake(1000, &task[0]);
	swap(2000, &task[1], &task[0]);
	swap(3000, &idle, &task[0]);
	wake(4000, &alias);
	swap(5000, &idle, &task[0]);
	assert_int_equal(nr_rows, 0);
	core[1].unwanted = 1;
	wake(6000, &task[0]);
	swap(7000, &idle, &task[0]);
	assert_int_equal(nr_rows, 0);
	/* The wake-up of a new task is counted, like the wake-up of any other task. */
	core[1].unwanted = 0;
	shim_now = 8000;
	runq_idle_new(NULL, &task[0]);
	swap(8500, &idle, &task[0]);
	assert_int_equal(row[0].waits.wait_ns, 500);
}

TEST_WITH(test_full, reset, NULL)
{
	nr_rows = NR_ROWS;
	memset(row, 0xff, sizeof(row));
	wake(1000, &task[0]);
	swap(2000, &idle, &task[0]);
	assert_int_equal(core[1].full, 1);
}

TEST(test_windows)
{
	struct runq_idle_row before[] = {{{11, 3, 0}, {5, 500}}, {{22, 1, 0}, {2, 20}}};
	struct runq_idle_row now[] = {
		{{22, 1, 0}, {2, 20}}, {{11, 3, 0}, {6, 700}}, {{33, 0, 0}, {1, 900}}};
	struct runq_idle_row rows[3];

	assert_int_equal(runq_idle_since(now, 3, before, 2, rows), 2);
	assert_int_equal(rows[0].key.group, 11);
	assert_int_equal(rows[0].waits.count, 1);
	assert_int_equal(rows[0].waits.wait_ns, 200);
	assert_int_equal(rows[1].key.group, 33);
	assert_int_equal(rows[1].waits.wait_ns, 900);
	/* runq_idle_since() must sort the snapshot `now`, which the next call searches. */
	assert_int_equal(now[0].key.group, 11);
	assert_int_equal(runq_idle_since(now, 3, NULL, 0, rows), 3);
}

/*
 * Two groups together wait longer for cores in C6 than one group waits for cores in C1. The advised
 * latency limit is 1 us below the claimed latency of C6.
 */
TEST(test_advice)
{
	struct runq_idle_state states[] = {
		{.party = {.kind = RUNQ_PARTY_OTHER},
		 .index = 1,
		 .name = "C1",
		 .claimed_ns = 2000,
		 .count = 90,
		 .wait_ns = 300000},
		{.party = {.kind = RUNQ_PARTY_OTHER},
		 .index = 3,
		 .name = "C6",
		 .claimed_ns = 133000,
		 .count = 2,
		 .wait_ns = 250000},
		{.party = {.kind = RUNQ_PARTY_GONE},
		 .index = 3,
		 .name = "C6",
		 .claimed_ns = 133000,
		 .count = 1,
		 .wait_ns = 150000},
	};
	struct runq_window w = {
		.has_idle_states = true, .idle_states = states, .nr_idle_states = 3};
	struct report *report = report_new("runq");
	const struct table *t;

	runq_report_idle(&w, report);
	runq_report_advice(&w, report);
	t = report_find(report, "idle_states");
	assert_int_equal(t->nr_rows, 3);
	assert_string_equal(table_str(t, 1, "name"), "C6");
	assert_int_equal(table_number(t, 1, "avg_ns"), 125000);
	assert_int_equal(table_number(t, 1, "claimed_ns"), 133000);
	assert_int_equal(report->nr_notes, 1);
	assert_non_null(strstr(report->notes[0],
			       "3 waits (0.400 ms in total) were for cores that woke from idle "
			       "state C6, which claims 133 us; a latency limit of 132 us"));
	report_free(report);
	/* If no idle state claims a latency, no limit can be advised. */
	states[0].claimed_ns = states[1].claimed_ns = states[2].claimed_ns = UINT64_MAX;
	report = report_new("runq");
	runq_report_advice(&w, report);
	assert_int_equal(report->nr_notes, 0);
	report_free(report);
}

TEST_MAIN()
