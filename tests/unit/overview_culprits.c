/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests findings of the overview about several culprits, starved tasks, VMs, idle and steal. */
#include "overview_scene.h"

#include "present/overview_rules.h"

/* One finding names all busy cgroups on the victim's CPUs and lowers all their weights. */
TEST(several_neighbours)
{
	begin();
	wait_for("/one", 200, 0);
	wait_for("/two", 120, 0);
	settings("/app");
	settings("/one");
	settings("/two");
	task(6, "service", "/app", 100);
	task(7, "burner", "/one", 900);
	task(8, "burner", "/two", 800);
	EXPECT("neighbour", "/app", "/one", "",
	       "echo 1 > /cg/one/cpu.idle; echo 1 > /cg/two/cpu.idle",
	       "/one and /two make /app wait: 320 ms per second, 100 % of its waiting (p99 5 ms); "
	       "2 tasks named burner use 1.7 CPUs");
	strcpy(scene.settings[2].path, "/t o");
	scene.paths[2].path = "/t o";
	EXPECT("neighbour", "/app", "/one", "",
	       "echo 1 > /cg/one/cpu.idle; echo 1 > '/cg/t o/cpu.idle'", NULL);
	/*
	 * A second culprit that causes much less waiting than the first culprit has a separate
	 * finding. A second culprit that never sleeps and may run on the victim's CPU has no
	 * finding.
	 */
	strcpy(scene.settings[2].path, "/two");
	scene.paths[2].path = "/two";
	scene.blame[1].wait_ns = 40 * MS;
	EXPECT("neighbour", "/app", "/one", "/cg/one/cpu.idle=1", "", NULL);
	scene.suspects[2].sleeps = 0;
	EXPECT("neighbour", "/app", "/one", "", NULL, NULL);
	scene.runq.nr_blame = 1;
	scene.groups[1].sum_ns = scene.groups[2].sum_ns = 100 * MS;
	EXPECT("neighbour", "/app", "/one", "", NULL, NULL);
	cpuset_del(&scene.suspects[2].allowed, 0);
	cpuset_del(&scene.suspects[0].allowed, 1);
	EXPECT("neighbour", "/app", "/one", "/cg/one/cpu.idle=1", "", NULL);
}

/*
 * Sibling cgroups that compete with the victim are reported as one culprit, under the name of their
 * parent.
 */
TEST(many_cgroups)
{
	begin();
	for (int i = 0; i < 3; i++) {
		static const char *const paths[] = {"/jobs/a", "/jobs/b", "/jobs/c"};

		wait_for(paths[i], 8, 0);
		task(7 + i, "job", paths[i], 300);
	}
	settings("/jobs/a");
	EXPECT("neighbour", "/app", "/jobs/a", "/cg/jobs/cpu.idle=1", "",
	       "/jobs (3 cgroups) makes /app wait: 24 ms per second, 100 % of its waiting (p99 5 "
	       "ms); 3 tasks named job use 0.9 CPUs");
	/* Each job ran in a cgroup of its own, and all three cgroups have been removed. */
	for (unsigned int i = 0; i < 3; i++) {
		scene.suspects[i].pid = 0;
		scene.suspects[i].cgroup_id = 2 + i;
	}
	scene.paths[3].path = "/job-c";
	EXPECT("short_lived", "/app", "3 cgroups such as /jobs/a: job", NULL, NULL,
	       "short-lived processes of 3 cgroups such as /jobs/a (3 job per second) make /app "
	       "wait: 24 ms per second, 100 % of its waiting (p99 5 ms)");
	task(9, "job", "/jobs/b", 300)->sleeps = 0;
	scene.suspects[1].pid = 0;
	scene.suspects[1].ns = 0;
	scene.suspects[1].cgroup_id = 0;
	settings("/app");
	EXPECT("short_lived", "/app", "3 cgroups such as /jobs/a: job", "/cg/app/cpu.weight=10000",
	       "", NULL);
	task(10, "job", "/app", 300)->sleeps = 0;
	EXPECT(NULL);
}

/*
 * No finding if the culprit already has cpu.idle or SCHED_IDLE: the victim waits only until the
 * kernel preempts the culprit.
 */
TEST(yields_already)
{
	begin();
	wait_for("/batch", 90, 0);
	settings("/batch")->levels[0].idle = 1;
	task(7, "burner", "/batch", 900);
	EXPECT(NULL);
	scene.window.nr_settings = 0;
	scene.suspects[0].policy = SCHED_IDLE;
	EXPECT(NULL);
	begin();
	wait_for("/batch", 290, 0);
	settings("/batch")->levels[0].idle = 1;
	task(7, "burner", "/batch", 900);
	EXPECT("neighbour", "/app", "/batch", "", "",
	       "/batch makes /app wait: 290 ms per second, 100 % of its waiting (p99 5 ms); burner "
	       "(PID 7) uses 0.9 CPUs");
}

/* If two cgroups delay each other, the cgroup with more CPU time is the culprit. */
TEST(each_other)
{
	begin();
	wait_for("/batch", 100, 0);
	scene.groups[1].sum_ns = scene.groups[1].cause_ns[RUNQ_OTHER] = 900 * MS;
	scene.groups[1].cause_ns[RUNQ_SAME] = 600 * MS;
	scene.groups[1].sum_ns += 600 * MS;
	scene.blame[1] = (struct runq_blame){.victim = scene.groups[1].party,
					     .culprit = scene.groups[0].party,
					     .wait_ns = 900 * MS};
	scene.blame[2] = (struct runq_blame){.victim = scene.groups[1].party,
					     .culprit = scene.groups[1].party,
					     .wait_ns = 600 * MS};
	scene.runq.nr_blame = 3;
	task(7, "service", "/app", 700);
	task(8, "worker", "/batch", 1300);
	EXPECT("neighbour", "/app", "/batch", NULL, NULL, NULL);
	scene.runq.nr_blame = 2;
	EXPECT("neighbour", "/app", "/batch", NULL, NULL, NULL);
	assert_int_equal(end(), 1);
	report_free(report);
	scene.blame[0].wait_ns = 0;
	scene.suspects[0].ns = 1200 * MS;
	EXPECT("neighbour", "/batch", "/app", NULL, NULL, NULL);
}

/* `runq` counts a wait at its end, so a task that never gets the CPU has no counted wait. */
TEST(starved)
{
	struct suspect *s, *rt;

	begin();
	scene.runq.nr_groups = 0;
	rt = task(8, "spinner", "/rt", 990);
	rt->policy = SCHED_FIFO;
	s = task(7, "service", "/app", 0);
	s->sleeps = 0;
	EXPECT(NULL);
	s->starved = true;
	settings("/app");
	settings("/rt");
	EXPECT("realtime", "/app", "spinner (PID 8)", "",
	       "chrt -i -p 0 8; echo 1 > /cg/rt/cpu.idle",
	       "spinner (PID 8 in /rt, SCHED_FIFO priority 0) makes service (PID 7 in /app) wait: "
	       "no CPU time in 1 s");
	rt->policy = SCHED_OTHER;
	EXPECT("neighbour", "/app", "/rt", "/cg/rt/cpu.idle=1", "", NULL);
	rt->cpu = 0;
	EXPECT(NULL);
	rt->cpu = 1;
	strcpy(rt->cgroup, "/app");
	s->policy = SCHED_IDLE;
	s->ns = 2 * MS;
	EXPECT("sched_idle", "/app", "spinner (PID 8)", "", "chrt -o -p 0 7; chrt -i -p 0 8",
	       "spinner (PID 8) makes service (PID 7 in /app) wait: only 2.0 ms of CPU time in 1 "
	       "s; service (PID 7) has SCHED_IDLE, spinner (PID 8) an ordinary policy");
	/* SCHED_IDLE tasks get no finding of their own if their cgroup has one. */
	begin();
	wait_for("/batch", 300, 0);
	task(8, "burner", "/batch", 900);
	s = task(7, "service", "/app", 0);
	s->starved = true;
	s->nice = 19;
	EXPECT("neighbour", "/app", "/batch", NULL, NULL,
	       "/batch makes /app wait: 300 ms per second, 100 % of its waiting (p99 5 ms); burner "
	       "(PID 8) uses 0.9 CPUs");
	assert_int_equal(end(), 1);
	report_free(report);
	s->nice = 0;
	EXPECT("neighbour", "/app", "/batch", NULL, NULL,
	       "/batch makes service (PID 7 in /app) wait: no CPU time in 1 s; burner (PID 8) uses "
	       "0.9 CPUs");
	assert_int_equal(end(), 1);
	report_free(report);
	begin();
	scene.groups[0].sum_ns = scene.groups[0].cause_ns[RUNQ_THROTTLED] = 900 * MS;
	task(7, "service", "/app", 0)->starved = true;
	task(8, "burner", "/batch", 900);
	EXPECT("quota", "/app", NULL, NULL, NULL, NULL);
	assert_int_equal(end(), 1);
	report_free(report);
}

/* Tasks of low priority are expected to wait, so the finding about their waits comes last. */
TEST(starved_on_purpose)
{
	begin();
	wait_for("/batch", 20, 0);
	task(7, "burner", "/batch", 900);
	task(6, "service", "/app", 300);
	for (uint32_t pid = 10; pid < 13; pid++) {
		struct suspect *s = task(pid, "spare", "/spare", 0);

		s->starved = true;
		s->policy = SCHED_IDLE;
	}
	EXPECT("neighbour", "/app", "/batch", NULL, NULL, NULL);
	assert_int_equal(end(), 2);
	assert_string_equal(table_str(findings_of(report), 1, "victim"), "/spare");
	report_free(report);
	scene.suspects[2].policy = SCHED_OTHER;
	EXPECT("neighbour", "/spare", "/batch", NULL, NULL, NULL);
}

/*
 * A small part of the waits of SCHED_IDLE tasks and idle cgroups counts as lost time. All waits of
 * nice tasks count as lost time.
 */
TEST(low_priority_victims)
{
	struct suspect *s;

	begin();
	wait_for("/app", 300, 0);
	task(7, "builder", "/app", 900)->sleeps = 0;
	s = task(8, "backup", "/app", 50);
	s->nice = 10;
	expect_lost("nice", 300);
	begin();
	wait_for("/batch", 300, 0);
	settings("/app")->levels[0].idle = 1;
	expect_lost("idle_cgroup", 20);
	EXPECT("idle_cgroup", "/app", "/batch", "/cg/app/cpu.idle=0", "",
	       "/app waits for /batch because cpu.idle of /app is 1: 300 ms per second, 100 % of "
	       "its waiting (p99 5 ms)");
	/* The limit applies to all rules. */
	begin();
	wait_for("/rt", 90, 60);
	task(7, "encoder", "/rt", 900)->policy = SCHED_RR;
	task(8, "backup", "/app", 50)->policy = SCHED_IDLE;
	s = task(9, "service", "/app", 10);
	expect_lost("realtime", 15);
	/* Most waits are waits of the service, although the backup uses more CPU time. */
	s->sleeps = 600;
	expect_lost("realtime", 150);
}

/* A few processes exited in the window, and two processes with the same parent still run. */
TEST(siblings_of_exited)
{
	struct suspect *s;

	begin();
	wait_for("/", 300, 0);
	s = exited("cronjob", 100, 5, 2);
	s->started_by = 7;
	for (uint32_t pid = 8; pid < 10; pid++)
		task(pid, "cronjob", "/", 300)->started_by = 7;
	task(6, "service", "/app", 300);
	task(7, "crond", "/", 2);
	settings("/app");
	EXPECT("short_lived", "/app", "/: cronjob", "",
	       "echo +cpu > /cg/cgroup.subtree_control; d=/cg/idle-7; mkdir -p $d && echo 1 > "
	       "$d/cpu.idle && echo 7 > $d/cgroup.procs",
	       NULL);
	/* Running tasks with the same name have another parent and use more CPU time. */
	scene.suspects[1].started_by = scene.suspects[2].started_by = 5;
	EXPECT("neighbour", "/app", "/: cronjob", "", "for p in 8 9; do chrt -i -p 0 $p; done",
	       NULL);
}

/* In cgroup v1 a cgroup with tasks can have children, which compete with its tasks. */
TEST(culprit_below_victim)
{
	begin();
	wait_for("/app/job", 300, 0);
	settings("/app");
	settings("/app/job");
	task(6, "service", "/app", 100);
	task(7, "burner", "/app/job", 900);
	EXPECT("neighbour", "/app", "/app/job", "/cg/app/job/cpu.idle=1", "", NULL);
	/* /app and /app2 have similar names, but /app is no ancestor of /app2. */
	strcpy(scene.settings[1].path, "/app2/job");
	scene.settings[1].levels[0].len = 9;
	scene.settings[1].levels[1].len = 5;
	scene.paths[1].path = "/app2/job";
	strcpy(scene.suspects[1].cgroup, "/app2/job");
	EXPECT("neighbour", "/app", "/app2/job", "/cg/app2/cpu.idle=1", "", NULL);
}

/* Removing only one of several quotas would not end the throttling. */
TEST(several_quotas)
{
	struct settings *s;

	begin();
	scene.paths[0].path = "/pod/app";
	scene.groups[0].sum_ns = scene.groups[0].cause_ns[RUNQ_THROTTLED] = 300 * MS;
	s = settings("/pod/app");
	s->levels[0].quota_us = 20000;
	s->levels[1].quota_us = 20000;
	s->levels[0].period_us = s->levels[1].period_us = 100000;
	s->levels[0].throttled_ns = 5;
	task(7, "service", "/pod/app", 200);
	EXPECT("quota", "/pod/app", "/pod/app", "",
	       "echo max > /cg/pod/app/cpu.max; echo max > /cg/pod/cpu.max",
	       "/pod/app waits for the CPU quota of /pod/app (0.2 CPUs) and of /pod (0.2 CPUs): "
	       "300 ms per second, 100 % of its waiting");
	s->levels[1].quota_us = 60000;
	EXPECT("quota", NULL, "/pod/app", "/cg/pod/app/cpu.max=max", "", NULL);
	/* Another cgroup, /pod/proxy, uses a part of the quota of /pod. */
	task(8, "proxy", "/pod/proxy", 150);
	EXPECT("quota", NULL, "/pod/app", "", NULL, NULL);
	s->levels[0].quota_us = 90000;
	EXPECT("quota", NULL, "/pod", "/cg/pod/cpu.max=max", "", NULL);
	s->levels[1].quota_us = 80000;
	EXPECT("quota", NULL, "/pod/app", "", NULL, NULL);
}

/* The tasks that wait use more CPU time than the tasks that never sleep. */
TEST(busy_in_own_cgroup)
{
	begin();
	wait_for("/app", 300, 0);
	task(6, "service", "/app", 1100);
	task(7, "builder", "/app", 600)->sleeps = 0;
	EXPECT("same_group", "/app", "/app: builder", "", "chrt -i -p 0 7",
	       "tasks of /app wait for each other: 234 ms per second, 100 % of its waiting (p99 5 "
	       "ms); service (PID 6) uses 1.1 CPUs; builder (PID 7) never sleeps");
	task(8, "linker", "/app", 300)->sleeps = 1;
	EXPECT("same_group", "/app", "/app: builder", "", "for p in 7 8; do chrt -i -p 0 $p; done",
	       NULL);
	/* The tasks that never sleep use less than a quarter of the CPU time. */
	scene.suspects[1].ns = scene.suspects[2].ns = 150 * MS;
	EXPECT("same_group", "/app", "/app", "", "", NULL);
}

/* The tasks of /app wait for each other because /hog uses one of the two CPUs. */
TEST(own_tasks_beside_hog)
{
	begin();
	wait_for("/app", 300, 0);
	wait_for("/hog", 50, 0);
	for (uint32_t pid = 7; pid < 10; pid++)
		task(pid, "service", "/app", 300);
	task(10, "hog", "/hog", 950);
	EXPECT("same_group", "/app", "/app", NULL, NULL, NULL);
	scene.suspects[3].sleeps = 0;
	EXPECT("neighbour", "/app", "/hog", NULL, NULL, NULL);
}

/*
 * For many busy tasks of the root cgroup, the advice moves them to a new cgroup with cpu.idle. With
 * SCHED_IDLE each task would still have a small weight.
 */
TEST(many_busy_in_root)
{
	begin();
	wait_for("/", 300, 0);
	settings("/app");
	for (uint32_t i = 0; i < 8; i++)
		task(10 + i, "stress", "/", 200)->sleeps = 0;
	EXPECT("neighbour", "/app", "/: stress", "",
	       "for p in 10 11 12 13 14 15 16 17; do chrt -i -p 0 $p; done", NULL);
	task(18, "stress", "/", 200)->sleeps = 0;
	EXPECT("neighbour", "/app", "/: stress", "",
	       "echo +cpu > /cg/cgroup.subtree_control; d=/cg/idle-10; mkdir -p $d && echo 1 > "
	       "$d/cpu.idle && for p in 10 11 12 13 14 15 16 17 18; do echo $p > $d/cgroup.procs; "
	       "done",
	       NULL);
	/* More than 100 threads of one process: the command moves the process. */
	for (uint32_t i = 0; i < 110; i++)
		task(30 + i, "stress", "/", 200)->sleeps = 0;
	for_each_suspect(s, &scene.window.suspects)
		scene.suspects[s - scene.suspects].tgid = 9;
	EXPECT("neighbour", "/app", "/: stress", "",
	       "echo +cpu > /cg/cgroup.subtree_control; d=/cg/idle-10; mkdir -p $d && echo 1 > "
	       "$d/cpu.idle && for p in 9; do echo $p > $d/cgroup.procs; done",
	       NULL);
}

/*
 * A real-time task delays /app. If the tasks of /app never sleep, only a small part of the waiting
 * counts as lost time.
 */
TEST(realtime_and_cpu_bound)
{
	struct suspect *s;

	begin();
	wait_for("/rt", 0, 300);
	s = task(7, "agent", "/rt", 500);
	s->policy = SCHED_RR;
	task(8, "solver", "/app", 500);
	expect_lost("realtime", 300);
	scene.suspects[1].sleeps = 0;
	scene.suspects[1].policy = SCHED_FIFO;
	expect_lost("realtime", 30);
	EXPECT("realtime", "/app", "agent (PID 7)", NULL, NULL,
	       "agent (PID 7 in /rt, SCHED_RR priority 0) makes /app wait: 300 ms per second, 100 "
	       "% of its waiting (p99 5 ms)");
}

/* Tasks with SCHED_IDLE wait for a service that always has a CPU. */
TEST(idle_tasks_wait)
{
	begin();
	wait_for("/app", 300, 0);
	task(7, "backup", "/app", 900)->policy = SCHED_IDLE;
	task(8, "service", "/app", 800);
	task(9, "service", "/app", 100);
	EXPECT(NULL);
	task(10, "shell", "/app", 1);
	EXPECT(NULL);
	task(11, "proxy", "/app", 100);
	EXPECT("same_group", "/app", NULL, NULL, NULL, NULL);
}

TEST(realtime_kernel_thread)
{
	struct suspect *s;

	begin();
	wait_for(NULL, 200, 0);
	s = task(7, "irq/24-eth0", "/", 300);
	s->kthread = true;
	s->policy = SCHED_FIFO;
	EXPECT("kernel_threads", "/app", "irq/24-eth0", "", "chrt -o -p 0 7; renice -n 19 -p 7",
	       NULL);
}

TEST(timers_of_many_tasks)
{
	begin();
	scene.noise.nr_sources = 1;
	scene.sources[0] = (struct noise_source){.cpu = 1,
						 .kind = NOISE_KIND_VECTOR,
						 .irq = UINT32_MAX,
						 .name = "Local timer interrupts",
						 .count = 8000,
						 .ns = 100 * MS};
	for (uint32_t i = 0; i < 8; i++)
		task(10 + i, "poller", "/batch", 20)->sleeps = 1000;
	task(7, "service", "/app", 100)->sleeps = 3000;
	EXPECT("timer", NULL, "poller", "", "",
	       "Local timer interrupts take 10 % of CPU 1 (8000 per second), for 8 tasks named "
	       "poller, which sleep 8000 times per second");
	/* Tasks on CPU 0 do not set the timer of CPU 1. */
	for (uint32_t i = 0; i < 8; i++)
		scene.suspects[i].cpu = 0;
	EXPECT("timer", NULL, "Local timer interrupts", "", "", NULL);
}

/* If a command that names every thread would be too long, the command changes the whole process. */
TEST(many_pinned_threads)
{
	struct suspect *s;

	begin();
	wait_for("/app", 300, 0);
	scene.cpu[0].busy_ratio = 0.1;
	for (uint32_t i = 0; i < 101; i++) {
		s = task(7 + i, "service", "/app", 20);
		s->tgid = 7;
		cpuset_del(&s->allowed, 0);
	}
	EXPECT("affinity", "/app", NULL, "", "for p in 7; do taskset -a -pc 0-1 $p; done", NULL);
	cpuset_add(&s->allowed, 0);
	task(108, "service", "/app", 20)->tgid = 7;
	cpuset_del(&scene.suspects[101].allowed, 0);
	EXPECT("affinity", "/app", NULL, "", "", NULL);
	/* A pinned thread has most of the wake-ups, but most threads are not pinned. */
	scene.window.suspects.nr = 0;
	task(6, "helper", "/app", 20)->sleeps = 10;
	task(7, "helper", "/app", 20)->sleeps = 10;
	cpuset_del(&task(8, "service", "/app", 500)->allowed, 0);
	EXPECT("affinity", "/app", "affinity of service (PID 8)", "", "taskset -pc 0-1 8", NULL);
	scene.suspects[2].sleeps = 10;
	EXPECT("same_group", "/app", NULL, NULL, NULL, NULL);
}

TEST(pinned)
{
	struct settings *s;

	begin();
	wait_for("/app", 300, 0);
	scene.cpu[0].busy_ratio = 0.1;
	cpuset_del(&task(7, "service", "/app", 500)->allowed, 0);
	EXPECT("affinity", "/app", "affinity of service (PID 7)", "", "taskset -pc 0-1 7",
	       "/app waits on CPU 1: 300 ms per second, 100 % of its waiting (p99 5 ms); CPU 0, "
	       "which its affinity excludes, is 90 % idle");
	/* One finding contains all tasks on CPU 1 for which the victim waited. */
	wait_for("/batch", 100, 0);
	task(8, "burner", "/batch", 500);
	assert_int_equal(end(), 1);
	report_free(report);
	scene.runq.nr_blame--;
	s = settings("/app");
	strcpy(s->cpuset_dir, "/cg/pod/app");
	s->nr_cpusets = 2;
	s->cpusets[0].len = 11;
	s->cpusets[1].len = 7;
	cpuset_add(&s->cpusets[0].cpus, 1);
	s->cpusets[1].cpus = scene.load.cpus;
	EXPECT("cpuset", "/app", "cpuset.cpus 1", "/cg/pod/app/cpuset.cpus=0-1", "", NULL);
	/*
	 * The parent cgroup may use CPU 0 but not CPU 1. In cgroup v1 a cgroup may use only CPUs of
	 * its parent.
	 */
	cpuset_del(&s->cpusets[1].cpus, 1);
	EXPECT("cpuset", NULL, NULL, "/cg/pod/app/cpuset.cpus=0", "", NULL);
	cpuset_add(&s->cpusets[1].cpus, 1);
	/* In cgroup v1 the command first changes cpuset.cpus of the parent cgroup. */
	cpuset_del(&s->cpusets[1].cpus, 0);
	EXPECT("cpuset", "/app", "cpuset.cpus 1", "",
	       "echo 0-1 > /cg/pod/cpuset.cpus; echo 0-1 > /cg/pod/app/cpuset.cpus", NULL);
	scene.cpu[0].busy_ratio = 0.6;
	EXPECT("same_group", NULL, NULL, NULL, NULL, NULL);
}

/* The finding names the VM and the command of its manager, not the cgroup setting. */
TEST(quota_of_vm)
{
	static const char scope[] = "/machine.slice/machine-qemu\\x2d3\\x2dweb.scope";
	static struct runq_group_names pod = {.namespace = "shop", .pod = "virt-launcher-web-x7k2p"};
	struct settings *s;

	begin();
	scene.paths[0].path = "/machine.slice/machine-qemu\\x2d3\\x2dweb.scope/libvirt/vcpu0";
	scene.paths[0].runtime = "libvirt";
	scene.paths[0].container_id = "web";
	scene.groups[0].sum_ns = 800 * MS;
	scene.groups[0].cause_ns[RUNQ_THROTTLED] = 600 * MS;
	s = settings(scene.paths[0].path);
	s->levels[0].quota_us = s->levels[2].quota_us = 20000;
	s->levels[0].period_us = s->levels[2].period_us = 100000;
	s->levels[2].throttled_ns = 5;
	task(7, "CPU 0/KVM", scene.paths[0].path, 150);
	EXPECT("quota", scene.paths[0].path, scope, "", "virsh schedinfo 3 --live global_quota=-1",
	       "VM web (/machine.slice/machine-qemu\\x2d3\\x2dweb.scope/libvirt/vcpu0) waits for "
	       "the CPU quota of /machine.slice/machine-qemu\\x2d3\\x2dweb.scope (0.2 CPUs): 600 "
	       "ms per second, 75 % of its waiting");
	s->levels[0].throttled_ns = 6;
	EXPECT("quota", scene.paths[0].path, scene.paths[0].path, "",
	       "virsh schedinfo 3 --live vcpu_quota=-1", NULL);
	/* The quota of the slice throttles all VMs. The quotas of the VM itself suffice. */
	s->levels[0].quota_us = s->levels[2].quota_us = 180000;
	s->levels[3].quota_us = 20000;
	s->levels[3].period_us = 100000;
	s->levels[3].throttled_ns = 7;
	EXPECT("quota", scene.paths[0].path, "/machine.slice", "/cg/machine.slice/cpu.max=max", "", NULL);
	begin();
	scene.paths[0].path = "/pod/compute";
	scene.paths[0].names = &pod;
	scene.groups[0].sum_ns = 800 * MS;
	scene.groups[0].cause_ns[RUNQ_THROTTLED] = 600 * MS;
	s = settings("/pod/compute");
	s->levels[0].quota_us = 20000;
	s->levels[0].period_us = 100000;
	EXPECT("quota", "/pod/compute", "/pod/compute", "/cg/pod/compute/cpu.max=max", "",
	       "VM web (/pod/compute) waits for the CPU quota of /pod/compute (0.2 CPUs): 600 ms "
	       "per second, 75 % of its waiting");
}

TEST(idle_exit)
{
	begin();
	scene.groups[0].sum_ns = scene.groups[0].cause_ns[RUNQ_IDLE] = 30 * MS;
	EXPECT("idle_exit", "/app", "", "", "", NULL);
	/* A wait that is longer than any idle exit does not count as a wait for an idle CPU. */
	scene.groups[0].max_ns = 15 * MS;
	EXPECT("idle_exit", "/app", "", "", "",
	       "/app waits for idle cores to wake up: 15 ms per second");
	scene.groups[0].max_ns = 25 * MS;
	EXPECT(NULL);
	scene.groups[0].max_ns = 200 * MS;
	EXPECT(NULL);
	scene.groups[0].max_ns = 9 * MS;
	EXPECT("idle_exit", "/app", "", "", "", NULL);
	scene.groups[0].cause_ns[RUNQ_IDLE] = 9 * MS;
	EXPECT(NULL);
}

/* Kernel threads serve no requests, so their waits for idle cores do not count. */
TEST(idle_exit_of_the_root_cgroup)
{
	struct suspect *web;

	begin();
	scene.paths[0].path = "/";
	scene.groups[0].sum_ns = scene.groups[0].cause_ns[RUNQ_IDLE] = 30 * MS;
	task(2, "kworker/0:1", "/", 1)->kthread = true;
	scene.suspects[0].sleeps = 9000;
	web = task(9, "web", "/", 1);
	web->sleeps = 1000;
	EXPECT(NULL);
	web->sleeps = 6000;
	EXPECT("idle_exit", "/", "", "", "", "/ waits for idle cores to wake up: 12 ms per second");
}

#define LIMIT_LATENCY(value) \
	"for f in /sys/devices/system/cpu/cpu[0-9]*/power/pm_qos_resume_latency_us; do " \
	"echo " value " > $f; done"

TEST(idle_state)
{
	struct wake_state deep = {.name = "C6", .claimed_ns = 133000, .sum_ns = 1, .cpu = 1};
	struct wake_window wake = {.states = &deep, .nr_states = 1};

	begin();
	scene.window.wake = &wake;
	scene.groups[0].sum_ns = scene.groups[0].cause_ns[RUNQ_IDLE] = 30 * MS;
	EXPECT("idle_exit", "/app", "C6", "", LIMIT_LATENCY("132"),
	       "/app waits for idle cores to wake up, mostly from C6: 30 ms per second");
	deep.claimed_ns = 1000;
	EXPECT("idle_exit", "/app", "C6", "", LIMIT_LATENCY("n/a"), NULL);
	deep.claimed_ns = WAKE_UNKNOWN;
	EXPECT("idle_exit", "/app", "C6", "", "", NULL);
}

/*
 * Stolen time counts as lost time if it delays tasks that sleep. Waits for idle cores (idle exits)
 * are part of the stolen time.
 */
TEST(stolen_time)
{
	struct overview_steal steal;

	begin();
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
		scene.cpu[cpu].busy_ratio = 0.8;
		scene.cpu[cpu].part_ns[LOAD_PART_STEAL] = 200 * MS;
	}
	wait_for("/batch", 100, 0);
	scene.groups[0].cause_ns[RUNQ_IDLE] = 30 * MS;
	scene.groups[0].sum_ns += 30 * MS;
	task(20, "service", "/app", 100);
	task(21, "burner", "/batch", 900)->sleeps = 0;
	steal = overview_steal(&scene.window);
	assert_int_equal(steal.ns, 400 * MS);
	assert_true(fabs(steal.taken - 0.2) < 1e-9);
	/*
	 * Expected lost time: 30 ms of idle exits + 10 % of 370 ms of steal + 20 % of 100 ms of
	 * waits.
	 */
	assert_true(fabs(steal.lost * 400.0 - (30.0 + 37.0 + 20.0)) < 1e-6);
	assert_int_equal(end(), 1);
	assert_string_equal(table_str(findings_of(report), 0, "rule"), "neighbour");
	assert_int_equal(table_number(findings_of(report), 0, "lost_ns"), 80 * MS);
	report_free(report);
	/* Stolen time below 5 % of a core is ignored, so waits for idle cores have a finding. */
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++)
		scene.cpu[cpu].part_ns[LOAD_PART_STEAL] = 40 * MS;
	assert_int_equal(overview_steal(&scene.window).ns, 0);
	assert_int_equal(end(), 2);
	assert_int_equal(table_number(findings_of(report), 0, "lost_ns"), 100 * MS);
	report_free(report);
}

/* The printed command can be pasted into a shell for any name of the cgroup. */
TEST(test_command_of_setting)
{
	static const struct {
		const char *setting, *next;
	} rows[] = {
		{"/sys/fs/cgroup/a/cpu.idle=1",
		 "echo 1 > /sys/fs/cgroup/a/cpu.idle; to confirm: subtick try --set "
		 "/sys/fs/cgroup/a/cpu.idle=1 --watch '/my app'"},
		{"/sys/a;reboot'/cpu.max=max 5",
		 "echo 'max 5' > '/sys/a;reboot'\\''/cpu.max'; to confirm: subtick try --set "
		 "'/sys/a;reboot'\\''/cpu.max=max 5' --watch '/my app'"},
	};
	static const struct finding_rule rule = {"rule", "task", 0.01, "look"};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct finding f = finding_of(&rule, WINDOW_NS);

		report = report_new("runq");
		report->window_ns = WINDOW_NS;
		findings_begin(report);
		finding_set(f.victim, "/my app");
		finding_set(f.setting, "%s", rows[i].setting);
		findings_add(report, &f, "x");
		assert_string_equal(table_str(findings_of(report), 0, "next"), rows[i].next);
		report_free(report);
	}
}

TEST_MAIN()
