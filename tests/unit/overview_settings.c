/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests how the overview reads settings of cgroups and tasks from /sys and /proc. */
#include "test.h"

#include <unistd.h>

#include "measure/overview/settings.h"
#include "measure/overview/suspects.h"
#include "tree.h"

TEST_WITH(v2, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	const struct settings_mounts mounts = {.cpu = "/cg", .cpuset = "/cg"};
	struct settings s;

	tree_file(tree, "/cg/pod/cpu.max", "20000 100000\n");
	tree_file(tree, "/cg/pod/cpu.stat", "usage_usec 5\nnr_throttled 3\nthrottled_usec 700\n");
	tree_file(tree, "/cg/pod/cpu.weight", "100\n");
	tree_file(tree, "/cg/pod/cpu.idle", "0\n");
	tree_file(tree, "/cg/pod/cpuset.cpus", "1-2\n");
	tree_file(tree, "/cg/pod/app/cpu.max", "max 100000\n");
	tree_file(tree, "/cg/pod/app/cpu.weight", "7\n");
	tree_file(tree, "/cg/pod/app/cpuset.cpus", "\n");
	settings_read(tree->root, &mounts, "/pod/app", "/pod/app", &s);
	assert_string_equal(s.path, "/pod/app");
	assert_int_equal(s.nr, 2);
	assert_int_equal(s.levels[0].len, strlen("/pod/app"));
	assert_int_equal(s.levels[0].quota_us, 0);
	assert_int_equal(s.levels[0].weight, 7);
	assert_int_equal(s.levels[0].idle, -1);
	assert_int_equal(s.levels[1].len, strlen("/pod"));
	assert_int_equal(s.levels[1].quota_us, 20000);
	assert_int_equal(s.levels[1].period_us, 100000);
	assert_int_equal(s.levels[1].throttled_ns, 700000);
	assert_int_equal(s.levels[1].idle, 0);
	/* A cgroup with an empty cpuset.cpus inherits the CPUs of its parent. */
	assert_string_equal(s.cpuset_dir, "/cg/pod/app");
	assert_int_equal(s.nr_cpusets, 1);
	assert_int_equal(s.cpusets[0].len, strlen("/cg/pod"));
	assert_true(cpuset_has(&s.cpusets[0].cpus, 2) && !cpuset_has(&s.cpusets[0].cpus, 0));
	tree_file(tree, "/cg/pod/app/cpuset.cpus", "2\n");
	settings_read(tree->root, &mounts, "/pod/app", "/pod/app", &s);
	assert_int_equal(s.nr_cpusets, 2);
	assert_int_equal(s.cpusets[0].len, strlen("/cg/pod/app"));
	assert_false(cpuset_has(&s.cpusets[0].cpus, 1));
	settings_read(tree->root, &mounts, "/", "/", &s);
	assert_int_equal(s.nr, 0);
}

TEST_WITH(v1, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	const struct settings_mounts mounts = {.cpu = "/cpu", .cpuset = "/cpuset", .v1 = true};
	struct settings s;

	tree_file(tree, "/cpu/app/cpu.cfs_quota_us", "50000\n");
	tree_file(tree, "/cpu/app/cpu.cfs_period_us", "100000\n");
	tree_file(tree, "/cpu/app/cpu.stat", "nr_periods 9\nthrottled_time 123456\n");
	tree_file(tree, "/cpu/app/cpu.shares", "1024\n");
	tree_file(tree, "/cpuset/set/cpuset.cpus", "3\n");
	settings_read(tree->root, &mounts, "/app", "/set", &s);
	assert_int_equal(s.nr, 1);
	assert_int_equal(s.levels[0].quota_us, 50000);
	assert_int_equal(s.levels[0].period_us, 100000);
	assert_int_equal(s.levels[0].throttled_ns, 123456);
	assert_int_equal(s.levels[0].weight, 1024);
	assert_string_equal(s.cpuset_dir, "/cpuset/set");
	assert_int_equal(s.nr_cpusets, 1);
	assert_int_equal(s.cpusets[0].len, strlen("/cpuset/set"));
	tree_file(tree, "/cpu/app/cpu.cfs_quota_us", "-1\n");
	settings_read(tree->root, &mounts, "/app", "", &s);
	assert_int_equal(s.levels[0].quota_us, 0);
	assert_string_equal(s.cpuset_dir, "");
	assert_int_equal(s.nr_cpusets, 0);
}

TEST(cgroup_of_a_task)
{
	static const char hybrid[] =
		"4:cpuset:/set\n3:cpu,cpuacct:/a:b\n1:name=systemd:/x\n0::/unified\n";
	char path[SUSPECT_PATH];

	suspect_cgroup(hybrid, "cpu", path);
	assert_string_equal(path, "/a:b");
	suspect_cgroup(hybrid, "cpuset", path);
	assert_string_equal(path, "/set");
	suspect_cgroup(hybrid, NULL, path);
	assert_string_equal(path, "/unified");
	suspect_cgroup("1:name=systemd:/x\n", "cpu", path);
	assert_string_equal(path, "");
}

/* A task that ran on several CPUs is listed once. Exited tasks are counted by name and cgroup. */
TEST_WITH(tasks, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct load_task list[] = {
		{.pid = 7, .tgid = 7, .cpu = 0, .ns = 10, .sleeps = 1, .comm = "worker"},
		{.pid = 7, .tgid = 7, .cpu = 1, .ns = 30, .sleeps = 2, .comm = "worker"},
		{.pid = 8, .tgid = 8, .cpu = 0, .ns = 5, .comm = "cron", .cgroup_id = 1, .parent = 3},
		{.pid = 9, .tgid = 9, .cpu = 0, .ns = 6, .comm = "cron", .cgroup_id = 1, .parent = 3},
		{.pid = 10, .tgid = 10, .cpu = 0, .ns = 7, .comm = "cron", .cgroup_id = 2},
		{.pid = 11, .tgid = 11, .cpu = 0, .ns = 3, .comm = "reused"},
		{.pid = UINT32_MAX, .tgid = UINT32_MAX, .cpu = 0, .ns = 99},
		{.pid = 12, .tgid = (uint32_t)getpid(), .cpu = 0, .ns = 4, .cgroup_id = 5},
	};
	struct suspects found = {.list = calloc(SUSPECTS_MAX, sizeof(struct suspect))};

	assert_non_null(found.list);
	tree_file(tree, "/proc/7/comm", "worker\n");
	tree_file(tree, "/proc/7/cgroup", "0::/app\n");
	tree_file(tree, "/proc/11/comm", "another\n");
	assert_int_equal(suspects_read(tree->root, list, 8, false, &found), 0);
	assert_int_equal(found.nr, 4);
	assert_int_equal(found.own_ns, 4);
	assert_int_equal(found.own_cgroup_id, 5);
	assert_int_equal(found.list[0].pid, 7);
	assert_int_equal(found.list[0].ns, 40);
	assert_int_equal(found.list[0].sleeps, 3);
	assert_int_equal(found.list[0].cpu, 1);
	assert_string_equal(found.list[0].cgroup, "/app");
	assert_int_equal(found.list[1].pid, 0);
	assert_string_equal(found.list[1].name, "cron");
	assert_int_equal(found.list[1].count, 2);
	assert_int_equal(found.list[1].cgroup_id, 1);
	assert_int_equal(found.list[1].started_by, 3);
	assert_int_equal(found.list[2].count, 1);
	assert_int_equal(found.list[3].pid, 0);
	assert_string_equal(found.list[3].name, "reused");
	free(found.list);
}

/*
 * make (PID 3) runs two shells, and each shell runs a compiler. The second shell still runs. The
 * script (PID 20) runs for the whole window, although a subshell of the same name exited. Two
 * shells exited before their gzip, so PID 1 is the parent of these gzip processes. Threads of java
 * (PID 30) exited.
 */
TEST_WITH(starter_of_exited_tasks, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct load_task list[] = {
		{.pid = 3, .tgid = 3, .ns = 1, .comm = "make", .parent = 2},
		{.pid = 4, .tgid = 4, .ns = 1, .comm = "sh", .parent = 3},
		{.pid = 5, .tgid = 5, .ns = 90, .comm = "cc1", .parent = 4},
		{.pid = 6, .tgid = 6, .ns = 1, .comm = "sh", .parent = 3},
		{.pid = 7, .tgid = 7, .ns = 80, .comm = "cc1", .parent = 6},
		{.pid = 8, .tgid = 8, .ns = 70, .comm = "cc1", .parent = 6},
		{.pid = 20, .tgid = 20, .ns = 1, .comm = "bash", .parent = 2},
		{.pid = 21, .tgid = 21, .ns = 60, .comm = "bash", .parent = 20},
		{.pid = 22, .tgid = 22, .ns = 31, .comm = "gzip", .parent = 1},
		{.pid = 23, .tgid = 23, .ns = 30, .comm = "gzip", .parent = 20},
		{.pid = 24, .tgid = 24, .ns = 5, .comm = "gzip", .parent = 1},
		{.pid = 30, .tgid = 30, .ns = 1, .comm = "java", .parent = 2},
		{.pid = 31, .tgid = 30, .ns = 20, .comm = "java", .parent = 2},
		{.pid = 32, .tgid = 30, .ns = 20, .comm = "java", .parent = 2},
	};
	struct suspects found = {.list = calloc(SUSPECTS_MAX, sizeof(struct suspect))};

	assert_non_null(found.list);
	tree_file(tree, "/proc/3/comm", "make\n");
	tree_file(tree, "/proc/6/comm", "sh\n");
	tree_file(tree, "/proc/8/comm", "cc1\n");
	tree_file(tree, "/proc/20/comm", "bash\n");
	tree_file(tree, "/proc/30/comm", "java\n");
	assert_int_equal(suspects_read(tree->root, list, ARRAY_SIZE(list), false, &found), 0);
	assert_string_equal(found.list[0].name, "cc1");
	assert_int_equal(found.list[0].count, 2);
	assert_int_equal(found.list[0].started_by, 3);
	assert_int_equal(found.list[1].pid, 8);
	assert_int_equal(found.list[1].started_by, 3);
	assert_string_equal(found.list[2].name, "gzip");
	assert_int_equal(found.list[2].count, 3);
	assert_int_equal(found.list[2].started_by, 20);
	assert_string_equal(found.list[3].name, "bash");
	assert_int_equal(found.list[3].started_by, 20);
	assert_string_equal(found.list[4].name, "java");
	assert_int_equal(found.list[4].started_by, 30);
	free(found.list);
}

#define STAT(pid, comm, state, flags) \
	#pid " (" comm ") " state " 1 1 1 0 -1 " #flags " 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 " \
	"0 0 0 0 0 17 1 0 0\n"

/* A starved task is runnable at both ends of a window and hardly runs in between. */
TEST_WITH(starved_tasks, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct load_task ran[] = {{.pid = 8, .ns = 900}, {.pid = 9, .ns = 20}, {.pid = 10, .ns = 20}};
	struct suspects found = {.list = calloc(SUSPECTS_MAX, sizeof(struct suspect))};
	struct runnable before, after;

	assert_non_null(found.list);
	tree_file(tree, "/proc/7/task/7/stat", STAT(7, "a) R b", "R", 0));
	tree_file(tree, "/proc/7/task/7/schedstat", "5 100 1\n");
	tree_file(tree, "/proc/7/task/17/stat", STAT(17, "idle) R", "S", 0));
	tree_file(tree, "/proc/8/task/8/stat", STAT(8, "busy", "R", 0));
	tree_file(tree, "/proc/8/task/8/schedstat", "5 100 1\n");
	tree_file(tree, "/proc/9/task/9/stat", STAT(9, "rare", "R", 0));
	tree_file(tree, "/proc/9/task/9/schedstat", "5 100 1\n");
	tree_file(tree, "/proc/10/task/10/stat", STAT(10, "brief", "R", 0));
	tree_file(tree, "/proc/10/task/10/schedstat", "5 100 1\n");
	tree_file(tree, "/proc/11/task/11/stat", STAT(11, "kworker", "R", 2097152));
	/* /proc/loadavg counts two runnable tasks: the test program and the running task. */
	tree_file(tree, "/proc/loadavg", "0.00 0.00 0.00 2/99 7\n");
	runnable_read(tree->root, &before);
	assert_int_equal(before.nr, 0);
	tree_file(tree, "/proc/loadavg", "0.00 0.00 0.00 3/99 7\n");
	runnable_read(tree->root, &before);
	assert_int_equal(before.nr, 4);
	tree_file(tree, "/proc/9/task/9/schedstat", "5 700 1\n");
	tree_file(tree, "/proc/10/task/10/schedstat", "5 500 1\n");
	runnable_read(tree->root, &after);
	tree_file(tree, "/proc/7/comm", "a) R b\n");
	tree_file(tree, "/proc/7/stat", STAT(7, "a) R b", "R", 0));
	tree_file(tree, "/proc/9/comm", "rare\n");
	tree_file(tree, "/proc/9/stat", STAT(9, "rare", "R", 0));
	found.list[found.nr++] = (struct suspect){.pid = 9};
	suspects_add_starved(tree->root, &before, &after, ran, 3, 1000, 2, false, &found);
	assert_int_equal(found.nr, 2);
	assert_true(found.list[0].starved);
	assert_int_equal(found.list[1].pid, 7);
	assert_true(found.list[1].starved);
	assert_int_equal(found.list[1].cpu, 1);
	/* Many runnable tasks share two CPUs. A task that ran for 20 of 1000 ns is not starved. */
	found.nr = 0;
	while (after.nr < 30)
		after.pids[after.nr++] = 100;
	suspects_add_starved(tree->root, &before, &after, ran, 3, 1000, 2, false, &found);
	assert_int_equal(found.nr, 1);
	assert_int_equal(found.list[0].pid, 7);
	after.nr = 4;
	/*
	 * `load` could not attribute some CPU time to a task. No task is reported as starved,
	 * because a starved task may have used the unattributed CPU time.
	 */
	found.nr = 0;
	ran[2] = (struct load_task){.pid = UINT32_MAX, .ns = 50};
	suspects_add_starved(tree->root, &before, &after, ran, 3, 1000, 2, false, &found);
	assert_int_equal(found.nr, 0);
	free(found.list);
}

TEST_MAIN()
