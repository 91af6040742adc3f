/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests which groups are charged: counter slots, names, removed cgroups, exiting tasks. */
#include "runq_switch.h"

/* Counter slots outside of the first chunk of memory are found. */
TEST_WITH(many_groups, reset, NULL)
{
	for (u32 i = NR_NEAR; i < NR_NEAR + RUNQ_CHUNK; i++)
		fake.free[fake.nr_free++] = i;
	for (u32 round = 0; round < 3; round++)
		for (u32 i = 0; i < NR_GROUPS; i++) {
			u64 now = 100000 * (round * NR_GROUPS + i);

			wake(now + 1, &task[i]);
			swap(now + 101 + i, &idle, &task[i], true);
			swap(now + 50000, &task[i], &idle, true);
		}
	assert_int_equal(fake.nr_index, NR_GROUPS);
	assert_int_equal(fake.nr_new, NR_GROUPS);
	for (u32 i = 0; i < NR_GROUPS; i++) {
		struct fake_totals totals = sum_of(i);

		assert_int_equal(totals.count, 3);
		assert_int_equal(totals.sum_ns, 3 * (100 + i));
		assert_int_equal(fake_head(1000 + i)->key, 1000 + i);
		assert_int_equal(fake_head(1000 + i)->cgroup_id, 500 + i);
	}
}

/*
 * After a task moves to another cgroup, both the fast path and the slow path charge its waits to
 * the new cgroup.
 */
static void changes_cgroup(int (*by)(u64 *))
{
	program = by;
	want_causes = want_blame = false;
	swap(10000, &idle, &task[2], true);
	for (u32 i = 1; i <= 4; i++) {
		u64 now = 10000 * (i + 1);

		if (i == 4)
			task[1].cgroups = &css[3];
		wake(now + 100, &task[1]);
		swap(now + 400 + i, &task[2], &task[1], true);
		wake(now + 500, &task[2]);
		swap(now + 700, &task[1], &task[2], true);
	}
	assert_int_equal(sum_of(1).count, 3);
	assert_int_equal(sum_of(1).sum_ns, 3 * 300 + 6);
	assert_int_equal(sum_of(3).sum_ns, 304);
	assert_int_equal(sum_of(2).sum_ns, 4 * 200);
	/* The first wait of a task in a cgroup takes the slow path of the BPF programs. */
	assert_int_equal(cores[0].runq.switches, by == runq_general ? 8 : 2);
}

/*
 * A task moves from an excluded to a measured cgroup. The task's waits in the excluded cgroup are
 * not charged to the measured cgroup.
 */
static void comes_from_unwanted(int (*by)(u64 *))
{
	program = by;
	want_causes = want_blame = false;
	want_filter = true;
	for (u32 i = 0; i < 6; i++) {
		u64 now = 100000 * (i + 1);

		if (i == 1)
			fake_unwanted(1001);
		if (i == 3)
			task[1].cgroups = &css[3];
		if (i == 5)
			task[1].cgroups = &css[1];
		wake(now, &task[1]);
		swap(now + 300 + i, &idle, &task[1], true);
		swap(now + 5000, &task[1], &idle, true);
	}
	assert_int_equal(sum_of(1).sum_ns, 300);
	assert_int_equal(sum_of(3).count, 2);
	assert_int_equal(sum_of(3).sum_ns, 303 + 304);
	assert_int_equal(cores[0].runq.table_full, 0);
}

TEST_WITH(unwanted_cgroup, reset, NULL)
{
	comes_from_unwanted(runq_general);
	reset(state);
	comes_from_unwanted(runq_some);
}

TEST_WITH(change_of_cgroup, reset, NULL)
{
	changes_cgroup(runq_general);
	reset(state);
	changes_cgroup(runq_plain);
}

TEST_WITH(table_full, reset, NULL)
{
	struct fake_totals other;

	fake.free_at = fake.nr_free - 1;
	wake(0, &task[1]);
	swap(100, &idle, &task[1], true);
	wake(200, &task[2]);
	swap(500, &task[1], &task[2], true);
	wake(600, &task[3]);
	swap(1000, &task[2], &task[3], true);
	assert_null(fake_head(1002));
	assert_true(cores[0].runq.table_full >= 2);
	other = fake_read(fake_slot(0));
	assert_int_equal(other.count, 2);
	assert_int_equal(other.sum_ns, 300 + 400);
	assert_int_equal(other.cause_ns[RUNQ_OTHER], 700);
	assert_int_equal(fake_row(1003, RUNQ_KEY_OTHER)->charge.wait_ns, 400);
}

/* The path in a group's header goes from the leaf up. The path of the root cgroup is empty. */
TEST_WITH(paths, reset, NULL)
{
	static struct kernfs_node deep[RUNQ_DEPTH + 2];
	struct kernfs_node inner = {.name = "inner", .__parent = &root_kn};
	struct runq_head *head;

	kn[1].__parent = &inner;
	wake(0, &task[1]);
	swap(100, &idle, &task[1], true);
	head = fake_head(1001);
	assert_int_equal(head->depth, 2);
	assert_string_equal(head->path, "leaf");
	assert_string_equal(head->path + 5, "inner");
	assert_int_equal(head->pid, 11);
	assert_string_equal(head->comm, "task");
	cgroup[2].kn = &root_kn;
	wake(200, &task[2]);
	swap(300, &task[1], &task[2], true);
	assert_int_equal(fake_head(1002)->depth, 0);
	/* The stored depth of a path is at most RUNQ_DEPTH, even if the path is deeper. */
	for (u32 i = 0; i < RUNQ_DEPTH + 2; i++)
		deep[i] = (struct kernfs_node){.name = "x", .__parent = i ? &deep[i - 1] : NULL};
	cgroup[3].kn = &deep[RUNQ_DEPTH + 1];
	wake(400, &task[3]);
	swap(500, &task[2], &task[3], true);
	assert_int_equal(fake_head(1003)->depth, RUNQ_DEPTH);
	cgroup[4].kn = &deep[RUNQ_DEPTH - 1];
	wake(600, &task[4]);
	swap(700, &task[3], &task[4], true);
	assert_int_equal(fake_head(1004)->depth, RUNQ_DEPTH - 1);
}

/*
 * Removing a cgroup retires only the counters of this cgroup. Waits of a task that outlives its
 * cgroup are still counted.
 */
TEST_WITH(removed_cgroup, reset, NULL)
{
	wake(0, &task[1]);
	swap(100, &idle, &task[1], true);
	wake(200, &task[2]);
	swap(300, &task[1], &task[2], true);
	assert_int_equal(slot_changes, 2);
	runq_rmdir(NULL, &cgroup[1]);
	assert_int_equal(slot_changes, 3);
	assert_int_equal(fake_head(1001)->gone, 1);
	assert_int_equal(fake_head(1002)->gone, 0);
	/* User space gives the counter slot to another group before updating the index. */
	fake_head(1002)->key = 4711;
	runq_rmdir(NULL, &cgroup[2]);
	assert_int_equal(fake_head(1002)->gone, 0);
	assert_int_equal(slot_changes, 3);
	cgroup[3].self.flags = 0;
	wake(400, &task[3]);
	swap(500, &task[2], &task[3], true);
	assert_int_equal(fake_head(1003)->gone, 1);
	wake(600, &task[4]);
	swap(700, &task[3], &task[4], true);
	runq_free(NULL, &task[4]);
	assert_int_equal(fake_head(1004)->gone, 0);
}

/*
 * On cgroup v1 a group ends only if its cgroup of the cpu controller is removed. Removing a cgroup
 * of another hierarchy ends no group.
 */
TEST_WITH(removed_cgroup_v1, reset, NULL)
{
	struct cgroup_subsys_state cpu_css = {&cgroup[1], CSS_ONLINE, 4242, NULL};

	cgroup_v2 = false;
	css[1].subsys[0] = &cpu_css;
	css[1].dfl_cgrp = NULL;
	wake(0, &task[1]);
	swap(100, &idle, &task[1], true);
	runq_rmdir(NULL, &cgroup[1]);
	assert_int_equal(fake_head(4242)->gone, 0);
	cgroup[1].subsys[0] = &cpu_css;
	runq_rmdir(NULL, &cgroup[1]);
	assert_int_equal(fake_head(4242)->gone, 1);
}

/* Tests the groups of --per task, --per comm and --per cpu. */
TEST_WITH(other_groups, reset, NULL)
{
	struct task_struct same = task[1], renamed = task[1], later = task[1], elsewhere = task[2];

	same.pid = 99;
	strcpy(renamed.comm, "taskXXXXXXXXXXX");
	later.start_time++;
	per = RUNQ_PER_TASK;
	assert_true(task_key(MODE_ANY, &task[1], 0) != task_key(MODE_ANY, &same, 0));
	assert_true(task_key(MODE_ANY, &task[1], 0) != task_key(MODE_ANY, &later, 0));
	assert_int_equal(task_key(MODE_ANY, &task[1], 0), task_key(MODE_ANY, &renamed, 1));
	per = RUNQ_PER_COMM;
	assert_int_equal(task_key(MODE_ANY, &task[1], 0), task_key(MODE_ANY, &same, 1));
	assert_true(task_key(MODE_ANY, &task[1], 0) != task_key(MODE_ANY, &renamed, 0));
	assert_true(task_key(MODE_ANY, &task[1], 0) < RUNQ_KEY_OTHER);
	per = RUNQ_PER_CGROUP_COMM;
	assert_int_equal(task_key(MODE_ANY, &task[1], 0), task_key(MODE_ANY, &same, 1));
	assert_true(task_key(MODE_ANY, &task[1], 0) != task_key(MODE_ANY, &renamed, 0));
	strcpy(elsewhere.comm, task[1].comm);
	assert_true(task_key(MODE_ANY, &task[1], 0) != task_key(MODE_ANY, &elsewhere, 0));
	assert_true(task_key(MODE_ANY, &task[1], 0) < RUNQ_KEY_OTHER);
	per = RUNQ_PER_CPU;
	assert_int_equal(task_key(MODE_ANY, &task[1], 1), 2);
	wake(0, &task[1]);
	swap(70, &idle, &task[1], true);
	assert_int_equal(fake_head(1)->key, 1);
	assert_int_equal(fake_head(1)->gone, 0);
}

/* With --per task the counters of a task are marked as ended when the task is freed. */
TEST_WITH(task_freed, reset, NULL)
{
	per = RUNQ_PER_TASK;
	wake(0, &task[1]);
	swap(100, &idle, &task[1], true);
	runq_free(NULL, &task[2]);
	assert_int_equal(fake_head(task_key(MODE_ANY, &task[1], 0))->gone, 0);
	runq_free(NULL, &task[1]);
	assert_int_equal(fake_head(task_key(MODE_ANY, &task[1], 0))->gone, 1);
}

static u64 walk(void)
{
	delay_live_ns = 0;
	for (u32 i = 0; i < 4; i++)
		runq_delays(&(struct bpf_iter__task){.task = &task[i]});
	runq_delays(&(struct bpf_iter__task){.task = NULL});
	return delay_live_ns + delay_exited_ns;
}

/* The sum of run_delay over all tasks includes each task once, whichever way the task ends. */
TEST_WITH(exits_are_booked_once, reset, NULL)
{
	for (u32 i = 0; i < 4; i++)
		task[i].sched_info.run_delay = 1000 << i;
	assert_int_equal(walk(), 15000);
	/* Task 8 exits and is freed between two iterations over all tasks. */
	task[8].sched_info.run_delay = 3;
	runq_exit(NULL, &task[8]);
	task[8].sched_info.run_delay = 4;
	runq_free(NULL, &task[8]);
	assert_int_equal(delay_exited_ns, 4);
	delay_exited_ns = 0;
	/*
	 * Task 1 exits and is still found by some task iterations. Task 1 is freed after task 3 has
	 * exited.
	 */
	task[1].flags |= PF_EXITING;
	runq_exit(NULL, &task[1]);
	assert_int_equal(walk(), 15000);
	task[3].flags |= PF_EXITING;
	runq_exit(NULL, &task[3]);
	assert_int_equal(walk(), 15000);
	task[1].sched_info.run_delay += 7;
	assert_int_equal(walk(), 15007);
	runq_free(NULL, &task[1]);
	task[1].flags = 0;
	task[1].sched_info.run_delay = 0;
	assert_int_equal(walk(), 15007);
	/* A task that exited before the start is counted when first found. */
	task[2].flags |= PF_EXITING;
	assert_int_equal(walk(), 15007);
	runq_free(NULL, &task[2]);
	task[9].sched_info.run_delay = 5;
	runq_free(NULL, &task[9]);
	task[2].flags = 0;
	task[2].sched_info.run_delay = 0;
	assert_int_equal(walk(), 15007);
}

/*
 * A zombie is counted once, even if its table entry is shared with other PIDs and several
 * iterations find the zombie.
 */
TEST_WITH(zombies_share_an_entry, reset, NULL)
{
	static const u32 pids[] = {7, 7 + RUNQ_NR_EXITS, 7 + 127 * RUNQ_NR_EXITS};

	for (u32 i = 0; i < 3; i++) {
		task[i].pid = pids[i];
		task[i].sched_info.run_delay = 1000 << i;
	}
	task[3].sched_info.run_delay = 0;
	assert_int_equal(walk(), 7000);
	for (u32 i = 0; i < 3; i++) {
		task[i].flags |= PF_EXITING;
		runq_exit(NULL, &task[i]);
		assert_int_equal(walk(), 7000);
		assert_int_equal(walk(), 7000);
	}
	/* The task whose PID is in the shared entry is freed last. */
	for (u32 i = 3; i-- > 0;) {
		task[i].sched_info.run_delay++;
		runq_free(NULL, &task[i]);
		task[i].flags = 0;
		task[i].sched_info.run_delay = 0;
		assert_int_equal(walk(), 7003 - i);
	}
	/*
	 * After the task that owns the shared table entry was freed, the next iteration gives the
	 * entry to a remaining task.
	 */
	for (u32 i = 0; i < 2; i++) {
		task[i].sched_info.run_delay = 100;
		task[i].flags |= PF_EXITING;
		runq_exit(NULL, &task[i]);
	}
	assert_int_equal(walk(), 7203);
	runq_free(NULL, &task[0]);
	task[0].flags = 0;
	task[0].sched_info.run_delay = 0;
	assert_int_equal(walk(), 7203);
	runq_free(NULL, &task[1]);
	task[1].flags = 0;
	task[1].sched_info.run_delay = 0;
	assert_int_equal(walk(), 7203);
}

TEST_MAIN()
