/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the findings of the overview: one finding per incident, and no finding in similar
 * situations that are harmless.
 */
#include "overview_scene.h"

TEST(quota_names_the_ancestor)
{
	struct settings *s;

	begin();
	scene.paths[0].path = "/pod/app";
	scene.groups[0].sum_ns = 800 * MS;
	scene.groups[0].cause_ns[RUNQ_THROTTLED] = 600 * MS;
	s = settings("/pod/app");
	s->levels[0].quota_us = 70000;
	s->levels[1].quota_us = 20000;
	s->levels[0].period_us = s->levels[1].period_us = 100000;
	s->levels[1].throttled_ns = 5;
	task(7, "burner", "/pod/side", 150)->sleeps = 0;
	task(8, "service", "/pod/app", 50);
	EXPECT("quota", "/pod/app", "/pod", "/cg/pod/cpu.max=max", "",
	       "/pod/app waits for the CPU quota of /pod (0.2 CPUs): 600 ms per second, 75 % of "
	       "its waiting; /pod/side uses 75 % of the quota");
	/* /pod/side never sleeps, so it is the consumer of the quota, not the victim. */
	add_group("/pod/side");
	settings("/pod/side")->levels[1] = s->levels[1];
	scene.groups[1].sum_ns = 900 * MS;
	scene.groups[1].cause_ns[RUNQ_THROTTLED] = 700 * MS;
	scene.groups[1].cause_ns[RUNQ_PREEMPTED] = 200 * MS;
	scene.groups[0].cause_ns[RUNQ_SAME] = 200 * MS;
	EXPECT("quota", "/pod/app", "/pod", NULL, NULL, NULL);
	scene.groups[0].cause_ns[RUNQ_THROTTLED] = 0;
	scene.groups[0].cause_ns[RUNQ_SAME] = 0;
	EXPECT("quota", "/pod/side", "/pod", NULL, NULL, NULL);
	expect_lost("quota", 70);
	scene.groups[0].cause_ns[RUNQ_THROTTLED] = 600 * MS;
	scene.runq.nr_groups = scene.window.nr_settings = 1;
	scene.window.mounts.v1 = true;
	s->levels[0].quota_us = 20000;
	s->levels[1].quota_us = 90000;
	EXPECT("quota", "/pod/app", "/pod/app", "/cg/pod/app/cpu.cfs_quota_us=-1", "", NULL);
	scene.window.nr_settings = 0;
	EXPECT("quota", "/pod/app", "", "", "", NULL);
	scene.groups[0].cause_ns[RUNQ_THROTTLED] = 9 * MS;
	EXPECT(NULL);
}

TEST(neighbour)
{
	begin();
	wait_for("/batch/job", 300, 100);
	settings("/app");
	settings("/batch/job");
	task(7, "burner", "/batch/job", 900);
	task(8, "burner", "/batch/job", 900);
	/* The advice sets cpu.idle of /batch, the sibling of /app, and not of /batch/job. */
	EXPECT("neighbour", "/app", "/batch/job", "/cg/batch/cpu.idle=1", "",
	       "/batch/job makes /app wait: 300 ms per second, 100 % of its waiting (p99 5 ms); 2 "
	       "tasks named burner use 1.8 CPUs");
	scene.settings[0].levels[0].weight = 20;
	EXPECT("neighbour", "/app", "/batch/job", "",
	       "echo 1 > /cg/batch/cpu.idle; echo 100 > /cg/app/cpu.weight",
	       "/batch/job makes /app wait: 300 ms per second, 100 % of its waiting (p99 5 ms); 2 "
	       "tasks named burner use 1.8 CPUs; cpu.weight of /batch is 100, of /app only 20");
	scene.settings[0].levels[0].weight = 100;
	/* The victim uses over four times the neighbour's CPU time, so there is no finding. */
	task(9, "solver", "/app", 7300);
	EXPECT(NULL);
	scene.window.suspects.nr--;
	/* Kernels before 5.15 have no cpu.idle. */
	scene.window.settings[1].levels[1].idle = -1;
	EXPECT("neighbour", NULL, NULL, "/cg/batch/cpu.weight=1", "", NULL);
	scene.window.mounts.v1 = true;
	scene.settings[0].levels[0].weight = 1024;
	EXPECT("neighbour", NULL, NULL, "/cg/batch/cpu.shares=2", "", NULL);
	/* If the cgroup has no weight file, the advice changes the policy of its tasks. */
	scene.window.settings[1].levels[1].weight = -1;
	EXPECT("neighbour", NULL, NULL, "", "for p in 7 8; do chrt -i -p 0 $p; done", NULL);
	scene.window.settings[0].levels[0].idle = 1;
	EXPECT("idle_cgroup", "/app", "/batch/job", "/cg/app/cpu.idle=0", "", NULL);
}

/* A sched_ext scheduler may ignore cgroup weights, so advice about weights names the scheduler. */
TEST(bpf_scheduler)
{
	static const char says[] = "; the sched_ext scheduler lavd decides";

	begin();
	wait_for("/batch", 300, 100);
	settings("/app");
	settings("/batch");
	task(7, "burner", "/batch", 900);
	for (int i = 0; i < 4; i++) {
		const char *next;

		strcpy(scene.runq.scheduler.name, i ? "lavd" : "");
		scene.runq.scheduler.partial = i == 2;
		if (i == 3) {
			scene.cpu[0].busy_ratio = 0.1;
			cpuset_del(&task(8, "service", "/app", 500)->allowed, 0);
		}
		assert_true(end() > 0);
		next = table_str(findings_of(report), 0, "next");
		assert_int_equal(strstr(next, says) != NULL, i == 1);
		if (i < 3)
			assert_string_equal(table_str(findings_of(report), 0, "next_setting"),
					    "/cg/batch/cpu.idle=1");
		report_free(report);
	}
}

TEST(fair_share)
{
	begin();
	wait_for("/batch", 2, 900);
	wait_for("/app", 2, 900);
	EXPECT(NULL);
	/* Many short waits give no finding: they are the normal cost of context switches. */
	begin();
	wait_for("/batch", 300, 0);
	scene.groups[0].percentile_ns = &short_ns;
	EXPECT(NULL);
}

/*
 * The BPF programs count a wait after a migration as a wait after a wake-up, even if the task never
 * sleeps.
 */
TEST(cpu_bound)
{
	struct load_task rows[] = {{.ns = 500 * MS, .sleeps = 1, .cgroup_id = 1},
				   {.ns = 500 * MS, .sleeps = 500, .cgroup_id = 2},
				   {.ns = MS, .sleeps = 1, .cgroup_id = 1}};
	struct suspect *s;

	begin();
	wait_for("/batch", 100, 900);
	task(8, "burner", "/batch", 900);
	s = task(7, "solver", "/app", 500);
	s->sleeps = 0;
	EXPECT(NULL);
	task(9, "shell", "/app", 1)->sleeps = 1;
	EXPECT(NULL);
	/*
	 * The list of suspects is truncated, so wake-ups are counted in the full task list of
	 * `load`.
	 */
	scene.load.tasks = rows;
	scene.load.nr_tasks = 3;
	scene.window.suspects.nr = SUSPECTS_LIVE;
	EXPECT(NULL);
	rows[1].cgroup_id = 1;
	EXPECT("neighbour", "/app", "/batch", NULL, NULL, NULL);
	scene.window.suspects.nr = 3;
	/* The victim computes for 50 ms per wake-up, so preemptions also delay its work. */
	s->sleeps = 10;
	EXPECT("neighbour", "/app", "/batch", "", "chrt -i -p 0 8",
	       "/batch makes /app wait: 955 ms per second, 100 % of its waiting (p99 5 ms); burner "
	       "(PID 8) uses 0.9 CPUs");
	/*
	 * If the culprit uses less CPU time than the victim, the finding counts only waits after
	 * wake-ups.
	 */
	s->ns = 610 * MS;
	EXPECT("neighbour", "/app", "/batch", "", "chrt -i -p 0 8",
	       "/batch makes /app wait: 55 ms per second, 100 % of its waiting (p99 5 ms); burner "
	       "(PID 8) uses 0.9 CPUs");
}

TEST(root_has_no_files)
{
	begin();
	wait_for("/", 300, 0);
	settings("/app");
	settings("/");
	task(7, "cron", "/", 900);
	EXPECT("neighbour", "/app", "/: cron", "", "chrt -i -p 0 7", NULL);
	/*
	 * Many tasks are equally busy. No command is advised, because changing the policy of one of
	 * them would help little.
	 */
	for (int i = 0; i < 4; i++)
		strcpy(task(8 + i, "", "/", 800)->name, (char[]){'a' + i, 0});
	EXPECT("neighbour", "/app", "/: cron", "/cg/app/cpu.weight=10000", "",
	       "tasks of / make /app wait: 300 ms per second, 100 % of its waiting (p99 5 ms); "
	       "cron uses 0.9 CPUs, a 0.8, b 0.8");
}

TEST(realtime)
{
	struct suspect *s;

	begin();
	wait_for("/", 0, 200);
	s = task(7, "rtjob", "/", 500);
	task(8, "other", "/", 400);
	s->policy = SCHED_FIFO;
	s->priority = 50;
	EXPECT("realtime", "/app", "rtjob (PID 7)", "", "chrt -i -p 0 7",
	       "rtjob (PID 7 in /, SCHED_FIFO priority 50) makes /app wait: 111 ms per second, 56 "
	       "% of its waiting");
	/*
	 * A task of the root cgroup is blamed for a share of the waits: the task's share of the
	 * root cgroup's CPU time.
	 */
	s->ns = 36 * MS;
	EXPECT("realtime", "/app", "rtjob (PID 7)", "", "chrt -i -p 0 7",
	       "rtjob (PID 7 in /, SCHED_FIFO priority 50) makes /app wait: 17 ms per second, 8 % "
	       "of its waiting");
	task(9, "watchdog", "/", 1)->policy = SCHED_FIFO;
	EXPECT("realtime", "/app", "rtjob (PID 7)", "", "chrt -i -p 0 7", NULL);
	s->ns = MS;
	EXPECT(NULL);
}

/*
 * The root cgroup contains processes of several services. The victim is the process with the most
 * wake-ups in the root cgroup. The victim's part of the waits of the root cgroup is proportional to
 * the victim's wake-ups.
 */
TEST(root)
{
	begin();
	scene.paths[0].path = "/";
	wait_for("/batch", 400, 0);
	task(7, "burner", "/batch", 1800)->sleeps = 0;
	task(8, "make", "/", 50);
	task(9, "web", "/", 50)->sleeps = 1500;
	EXPECT("neighbour", "/", "/batch", "", NULL,
	       "/batch makes web (PID 9 in /) wait: 300 ms per second, 100 % of its waiting (p99 5 "
	       "ms); burner (PID 7) uses 1.8 CPUs");
	/* Half of the waits of the root cgroup begin with a preemption and half with a wake-up. */
	scene.groups[0].count = 4000;
	scene.suspects[0].ns = 1010 * MS;
	EXPECT("neighbour", "/", "/batch", "", NULL,
	       "/batch makes web (PID 9 in /) wait: 150 ms per second, 100 % of its waiting (p99 5 "
	       "ms); burner (PID 7) uses 1 CPU");
	scene.suspects[0].ns = 1800 * MS;
	scene.groups[0].count = 0;
	scene.window.suspects.own_ns = 1800 * MS;
	scene.window.suspects.own_cgroup_id = 2;
	EXPECT("neighbour", "/", "/batch", "", NULL,
	       "/batch makes web (PID 9 in /) wait: 150 ms per second, 50 % of its waiting; burner "
	       "(PID 7) uses 1.8 CPUs");
	/*
	 * If a process of the root cgroup wakes fewer than 5 times per second, its share of the
	 * waits is unknown.
	 */
	scene.suspects[1].sleeps = scene.suspects[2].sleeps = 4;
	EXPECT(NULL);
	scene.suspects[2].sleeps = 5;
	EXPECT("neighbour", "/", "/batch", "", NULL, NULL);
	begin();
	scene.paths[0].path = "/";
	wait_for("/", 400, 0);
	scene.blame[0].culprit = scene.groups[0].party;
	task(7, "burner", "/", 1950)->sleeps = 0;
	task(9, "web", "/", 50);
	EXPECT("same_group", "/", "/: burner", "", "chrt -i -p 0 7",
	       "web (PID 9 in /) waits for other tasks of its cgroup: 400 ms per second, 100 % of "
	       "its waiting (p99 5 ms); burner (PID 7) uses 1.9 CPUs");
	/* The culprit must not have the same command name as the victim. */
	strcpy(scene.suspects[0].name, "web");
	task(10, "make", "/", 1)->sleeps = 0;
	EXPECT("same_group", "/", "/", "", "", NULL);
	/* If no command uses most of the CPU time, the advice moves the waiting process. */
	strcpy(scene.suspects[0].name, "one");
	scene.suspects[0].ns = 900 * MS;
	scene.suspects[0].sleeps = 100;
	task(11, "two", "/", 900)->sleeps = 100;
	EXPECT("same_group", "/", "/", "",
	       "echo +cpu > /cg/cgroup.subtree_control; d=/cg/first-9; mkdir -p $d && echo 10000 > "
	       "$d/cpu.weight && echo 9 > $d/cgroup.procs",
	       NULL);
}

/* A culprit with less than 5 % of all waits has 40 % of the waits that are not behind subtick. */
TEST(waits_behind_subtick)
{
	begin();
	wait_for("/batch", 40, 0);
	wait_for("/", 960, 0);
	task(7, "service", "/app", 100);
	task(8, "burner", "/batch", 900)->sleeps = 0;
	scene.window.suspects.own_ns = 300 * MS;
	scene.window.suspects.own_cgroup_id = 3;
	EXPECT("neighbour", "/app", "/batch", "", NULL,
	       "/batch makes /app wait: 40 ms per second, 4 % of its waiting; burner (PID 8) uses "
	       "0.9 CPUs");
}

/* With autogroup, each session in the root cgroup is a group with its own weight. */
TEST(autogroup)
{
	begin();
	wait_for("/", 300, 0);
	task(7, "burner", "/", 1900)->autogroup = 4;
	EXPECT("neighbour", "/app", "/: burner", "",
	       "for p in 7; do chrt -i -p 0 $p; echo 19 > /proc/$p/autogroup; done", NULL);
	scene.suspects[0].policy = SCHED_FIFO;
	EXPECT("realtime", "/app", "burner (PID 7)", "",
	       "for p in 7; do chrt -i -p 0 $p; echo 19 > /proc/$p/autogroup; done", NULL);
	begin();
	scene.paths[0].path = "/";
	wait_for("/", 400, 0);
	scene.blame[0].culprit = scene.groups[0].party;
	task(7, "burner", "/", 1900)->sleeps = 0;
	task(9, "web", "/", 50);
	scene.suspects[0].autogroup = scene.suspects[1].autogroup = 4;
	EXPECT("same_group", "/", "/: burner", "", "chrt -i -p 0 7", NULL);
	scene.suspects[1].autogroup = 5;
	EXPECT("same_group", "/", "/: burner", "",
	       "for p in 7; do chrt -i -p 0 $p; echo 19 > /proc/$p/autogroup; done", NULL);
	/* A nice value has an effect only among the tasks of one session (autogroup). */
	scene.suspects[1].nice = 10;
	EXPECT("same_group", "/", "/: burner", "", NULL, NULL);
	scene.suspects[1].autogroup = 4;
	EXPECT("nice", "/", "burner (PID 7)", "", "renice -n 0 -p 9; chrt -i -p 0 7",
	       "burner (PID 7) makes web (PID 9 in /) wait: 400 ms per second, 100 % of its "
	       "waiting (p99 5 ms); web (PID 9) has nice 10, burner (PID 7) nice 0");
	/* A task with a higher real-time priority does not wait for the culprit. */
	scene.suspects[0].policy = scene.suspects[1].policy = SCHED_RR;
	scene.suspects[0].priority = 10;
	EXPECT("realtime", "/", NULL, NULL, NULL, NULL);
	scene.suspects[1].priority = 11;
	EXPECT(NULL);
}

TEST(short_lived)
{
	struct suspect *s;

	begin();
	wait_for("/batch", 300, 0);
	settings("/batch");
	s = exited("cronjob", 800, 100, 2);
	task(7, "sh", "/batch", 20);
	EXPECT("short_lived", "/app", "/batch: cronjob", "/cg/batch/cpu.idle=1", "",
	       "short-lived processes of /batch (100 cronjob per second) make /app wait: 300 ms "
	       "per second, 100 % of its waiting (p99 5 ms)");
	/* Without a weight that can be set, the advice changes the policy of the parent process. */
	scene.window.nr_settings = 0;
	EXPECT("short_lived", NULL, NULL, "", "", NULL);
	s->started_by = 7;
	EXPECT("short_lived", NULL, NULL, "", "chrt -i -p 0 7",
	       "short-lived processes of /batch (100 cronjob per second), started by sh (PID 7), "
	       "make /app wait: 300 ms per second, 100 % of its waiting (p99 5 ms)");
	/* The short-lived processes already have the policy SCHED_IDLE, so there is no advice. */
	scene.suspects[1].policy = SCHED_IDLE;
	EXPECT("short_lived", NULL, NULL, "", "", NULL);
	/*
	 * If the short-lived processes are in the root cgroup, the advice moves their parent to a
	 * new cgroup.
	 */
	scene.paths[1].path = "/";
	strcpy(scene.suspects[1].cgroup, "/");
	settings("/app");
	EXPECT("short_lived", "/app", "/: cronjob", "",
	       "echo +cpu > /cg/cgroup.subtree_control; d=/cg/idle-7; mkdir -p $d && echo 1 > "
	       "$d/cpu.idle && echo 7 > $d/cgroup.procs",
	       NULL);
	scene.settings[0].levels[0].idle = -1;
	scene.window.mounts.v1 = true;
	EXPECT("short_lived", "/app", "/: cronjob", "",
	       "d=/cg/idle-7; mkdir -p $d && echo 2 > $d/cpu.shares && echo 7 > $d/cgroup.procs",
	       NULL);
	/*
	 * Short-lived processes give no finding if they are few, or use less CPU time than the
	 * long-lived processes.
	 */
	s->count = 4;
	EXPECT("neighbour", NULL, NULL, NULL, NULL, NULL);
	s->count = 100;
	s->ns = 6 * MS;
	EXPECT("neighbour", NULL, NULL, NULL, NULL, NULL);
}

/* Short-lived processes of /app wait for each other. A tenth of the waiting is lost time. */
TEST(short_lived_victims)
{
	struct suspect *s;

	begin();
	wait_for("/app", 300, 600);
	s = exited("bomb", 1000, 2000, 1);
	EXPECT("short_lived", "/app", "/app: bomb", NULL, NULL,
	       "short-lived processes of /app (2000 bomb per second) make /app wait: 30 ms per "
	       "second, 100 % of its waiting (p99 5 ms)");
	/* The parent of the short-lived processes waits in the run queue behind its children. */
	task(7, "sh", "/app", 900);
	s->started_by = 7;
	/*
	 * No command is advised: the children would inherit the policy of the parent, and the
	 * parent would still wait.
	 */
	EXPECT("short_lived", "/app", "/app: bomb", "", "", NULL);
	task(8, "service", "/app", 0);
	/* Parent and children share a cgroup, so a cgroup setting would not help. */
	settings("/app");
	EXPECT("short_lived", "/app", "/app: bomb", "", "chrt -i -p 0 7",
	       "short-lived processes of /app (2000 bomb per second), started by sh (PID 7), make "
	       "/app wait: 58 ms per second, 100 % of its waiting (p99 5 ms)");
	/* CPU time of the parent counts as CPU time of the short-lived processes. */
	s->ns = 500 * MS;
	EXPECT("short_lived", "/app", "/app: bomb", NULL, NULL, NULL);
	s->ns = 400 * MS;
	scene.suspects[1].ns = 1300 * MS;
	EXPECT("same_group", "/app", "/app", NULL, NULL, NULL);
	begin();
	wait_for("/batch", 300, 0);
	s = exited("bomb", 800, 2000, 1);
	s->started_by = 7;
	task(7, "sh", "/cron", 900);
	task(8, "burner", "/batch", 900);
	EXPECT("neighbour", "/app", "/batch", NULL, NULL,
	       "/batch makes /app wait: 30 ms per second, 100 % of its waiting (p99 5 ms); burner "
	       "(PID 8) uses 0.9 CPUs");
}

TEST(short_lived_beside_hog)
{
	struct suspect *s;

	/*
	 * All waiting counts as lost time, because the culprit cgroup uses more CPU time than the
	 * victim.
	 */
	begin();
	wait_for("/batch", 300, 0);
	s = exited("httpd", 300, 20, 1);
	s->started_by = 7;
	task(7, "httpd", "/app", 50);
	task(8, "burner", "/batch", 1600)->sleeps = 0;
	EXPECT("neighbour", "/app", "/batch", NULL, NULL,
	       "/batch makes /app wait: 300 ms per second, 100 % of its waiting (p99 5 ms); burner "
	       "(PID 8) uses 1.6 CPUs");
	/* PID 1 is the parent of orphaned processes, but did not start the processes. */
	s->cgroup_id = 2;
	s->started_by = 1;
	scene.paths[1].path = "/";
	scene.suspects[2].ns = 0;
	task(1, "init", "/", 5);
	settings("/app");
	EXPECT("short_lived", "/app", "/: httpd", "/cg/app/cpu.weight=10000", "",
	       "short-lived processes of / (20 httpd per second) make /app wait: 300 ms per "
	       "second, 100 % of its waiting (p99 5 ms)");
	/* The victim already has the highest weight, and no other advice exists. */
	scene.settings[0].levels[0].weight = 10000;
	EXPECT("short_lived", "/app", "/: httpd", "", "", NULL);
}

TEST(priorities_in_one_cgroup)
{
	struct suspect *s;

	begin();
	wait_for("/app", 300, 100);
	task(7, "builder", "/app", 900)->sleeps = 0;
	s = task(8, "service", "/app", 50);
	s->nice = 19;
	EXPECT("nice", "/app", "builder (PID 7)", "", "renice -n 0 -p 8; chrt -i -p 0 7",
	       "tasks of /app wait for each other: 305 ms per second, 100 % of its waiting (p99 5 "
	       "ms); service (PID 8) has nice 19, builder (PID 7) nice 0");
	/* A task with nice 0 has most of the waits, so nice values are not the cause. */
	task(9, "proxy", "/app", 50)->sleeps = 501;
	EXPECT("same_group", "/app", "/app: builder", "", "chrt -i -p 0 7", NULL);
	scene.window.suspects.nr--;
	/* A difference of only 2 between nice values is not reported as the cause. */
	s->nice = 2;
	EXPECT("same_group", "/app", "/app: builder", "", "chrt -i -p 0 7", NULL);
	s->nice = 0;
	s->policy = SCHED_IDLE;
	EXPECT("sched_idle", "/app", "builder (PID 7)", "", "chrt -o -p 0 8; chrt -i -p 0 7", NULL);
	s->policy = SCHED_OTHER;
	scene.window.suspects.list[0].ns = 1900 * MS;
	EXPECT("same_group", "/app", "/app: builder", "", "chrt -i -p 0 7", NULL);
	strcpy(scene.window.suspects.list[0].name, "service");
	EXPECT("same_group", "/app", "/app: service", "", "chrt -i -p 0 7",
	       "tasks of /app wait for each other: 291 ms per second, 100 % of its waiting (p99 5 "
	       "ms); 2 tasks named service use 1.9 CPUs; service (PID 7) never sleeps");
	/* The waiting task has the policy SCHED_IDLE, so there is no finding same_group. */
	scene.window.suspects.list[0].policy = SCHED_IDLE;
	EXPECT(NULL);
	scene.window.suspects.list[0].policy = SCHED_OTHER;
	scene.window.suspects.list[0].sleeps = 500;
	cpuset_add(&scene.window.offline, 2);
	EXPECT("same_group", "/app", "/app", "/sys/devices/system/cpu/cpu2/online=1", "",
	       "tasks of /app wait for each other: 385 ms per second, 100 % of its waiting (p99 5 "
	       "ms); 2 tasks named service use 1.9 CPUs; CPU 2 is offline");
	scene.window.suspects.list[0].ns = scene.window.suspects.list[1].ns = 20 * MS;
	EXPECT(NULL);
}

TEST(kernel_threads)
{
	struct noise_function functions[2] = {{.key = 5, .name = "writeback_fn", .ns = 10},
					      {.key = 6, .name = "loop_fn", .ns = 299 * MS}};
	struct noise_delay delays[2];
	struct suspect *s;

	begin();
	wait_for(NULL, 200, 0);
	s = task(7, "kworker/u8:1-loop0", "/", 300);
	s->kthread = true;
	EXPECT("kernel_threads", "/app", "kworker/u8:1-loop0", "", "",
	       "kernel thread kworker/u8:1-loop0 (0.3 CPUs) makes /app wait: 200 ms per second, "
	       "100 % of its waiting (p99 5 ms)");
	scene.noise.functions = functions;
	scene.noise.nr_functions = 2;
	EXPECT("kernel_threads", "/app", "kworker/u8:1-loop0: loop_fn", NULL, NULL, NULL);
	/*
	 * Several kernel threads use similar CPU time, so the finding begins with "kernel threads,
	 * mostly".
	 */
	for (uint32_t pid = 8; pid < 11; pid++) {
		char name[] = {'k', (char)('a' + pid), '\0'};

		task(pid, name, "/", 200)->kthread = true;
	}
	EXPECT("kernel_threads", "/app", NULL, NULL, NULL,
	       "kernel threads, mostly kworker/u8:1-loop0 (0.3 CPUs, mostly in loop_fn) make /app "
	       "wait: 200 ms per second, 100 % of its waiting (p99 5 ms)");
	strcpy(s->name, "kswapd0");
	EXPECT("kernel_threads", "/app", "kswapd0", "", "renice -n 19 -p 7", NULL);
	strcpy(s->name, "ksoftirqd/1");
	delays[0] = (struct noise_delay){.cpu = 0, .vec = 1, .times.ns = 9};
	delays[1] = (struct noise_delay){.cpu = 1, .vec = 3, .times.ns = 5};
	scene.noise.delays = delays;
	scene.noise.nr_delays = 2;
	EXPECT("ksoftirqd", "/app", "NET_RX in ksoftirqd/1", "", "", NULL);
	cpuset_del(&task(20, "service", "/app", 50)->allowed, 0);
	scene.cpu[0].busy_ratio = 0.1;
	EXPECT("ksoftirqd", "/app", "NET_RX in ksoftirqd/1", "", "taskset -pc 0-1 20",
	       "kernel threads, mostly ksoftirqd/1 (0.3 CPUs, mostly NET_RX softirqs) make /app "
	       "wait: 200 ms per second, 100 % of its waiting (p99 5 ms); CPU 0, which its "
	       "affinity excludes, is 90 % idle");
	strcpy(s->name, "migration/1");
	scene.cpu[0].busy_ratio = 1.0;
	EXPECT("stop_machine", "/app", "migration/1", "", "", NULL);
}

TEST(interrupts)
{
	begin();
	scene.noise.nr_sources = scene.noise.nr_hits = 1;
	scene.sources[0] = (struct noise_source){.cpu = 1,
						 .kind = NOISE_KIND_SOFTIRQ,
						 .irq = UINT32_MAX,
						 .name = "NET_RX",
						 .count = 5000,
						 .ns = 500 * MS,
						 .knob = "RPS"};
	scene.hits[0] = (struct noise_hit){.cgroup = "/app", .ns = {100, 100}};
	/* During half of the waiting time of /app, softirqs interrupted the running tasks. */
	wait_for("/app", 800, 0);
	EXPECT("softirq", "/app", "NET_RX", "", "",
	       "NET_RX softirqs take 50 % of CPU 1, mostly from tasks of /app (5000 per second)");
	/* CPU-bound tasks wait, for example after a migration. These waits are no delay. */
	task(7, "solver", "/app", 900)->sleeps = 0;
	expect_lost("softirq", 500);
	/* Half of the waits of the root cgroup are waits of kernel threads, which are no delay. */
	scene.paths[0].path = "/";
	task(8, "kworker", "/", 10)->kthread = true;
	task(9, "web", "/", 10);
	expect_lost("softirq", 700);
	scene.paths[0].path = "/app";
	scene.window.suspects.nr = 0;
	scene.sources[0].ns = 40 * MS;
	EXPECT("same_group", NULL, NULL, NULL, NULL, NULL);

	begin();
	scene.noise.nr_sources = scene.noise.senders.nr = 1;
	scene.sources[0] = (struct noise_source){.cpu = 1,
						 .kind = NOISE_KIND_VECTOR,
						 .irq = UINT32_MAX,
						 .name = "Function call interrupts",
						 .count = 50000,
						 .ns = 100 * MS};
	scene.senders[0] = (struct noise_sender){.cpu = 1, .from_cpu = 0, .count = 50000};
	task(7, "barrier", "/batch", 900)->cpu = 0;
	EXPECT("ipi", "", "barrier (PID 7)", "", "",
	       "Function call interrupts take 10 % of CPU 1 (50000 per second), sent by CPU 0, "
	       "where mostly this task runs: barrier (PID 7)");
	/*
	 * The finding names the process that sent the IPIs, if this process is known. For the
	 * interrupt line of a device, the finding advises to use another CPU for the interrupts.
	 */
	scene.senders[0].by_process = 1;
	scene.senders[0].pid = 9;
	strcpy(scene.senders[0].comm, "sender");
	EXPECT("ipi", "", "sender (PID 9)", "", "", NULL);
	scene.noise.senders.nr = 0;
	EXPECT("hardirq", NULL, "Function call interrupts", NULL, NULL, NULL);
	scene.sources[0].kind = NOISE_KIND_IRQ;
	scene.sources[0].irq = 22;
	EXPECT("hardirq", NULL, NULL, "/proc/irq/22/smp_affinity_list=0", "", NULL);
	strcpy(scene.sources[0].name, "arch_timer");
	scene.window.suspects.list[0].cpu = 1;
	scene.window.suspects.list[0].sleeps = 50000;
	EXPECT("timer", NULL, "barrier (PID 7)", "", "", NULL);
	/* On CPU 0 the interrupt takes only a little time, which gives no second finding. */
	scene.noise.nr_sources = 2;
	scene.sources[1] = scene.sources[0];
	scene.sources[0].cpu = 0;
	scene.sources[0].ns = 40 * MS;
	assert_int_equal(end(), 1);
	report_free(report);
}

TEST_MAIN()
