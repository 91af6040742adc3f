/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests avoidable waits: a task waits although an idle core could run it. Compares the counted
 * times with a brute-force computation.
 */
#include "test.h"

#include "bpf_shim.h"
#include "normal.h"

static long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags);

/* Removes const, so that the tests can write the read-only data of the BPF programs. */
#define const
#include "bpf/runq_avoidable.bpf.c"
#undef const

#define MOST_CORES 70
#define NR_TASKS   24
#define NR_EVENTS  20000

/* A task, its cgroup, and the true times of its current wait. */
struct job {
	struct task_struct task;
	struct cgroup group;
	struct css_set css;
	enum { ASLEEP, WAITS, RUNS } state;
	u32 core;
	u64 avoidable_ns, excluded_ns, total_ns;
	bool inexact; /* the allowed CPUs or the throttling of the task changed during its wait */
	struct runq_avoidable_waits sum;
};

static u32 nr_cpus;
static struct job jobs[NR_TASKS];
static struct task_struct idle[MOST_CORES];
static struct cfs_rq cfs[NR_TASKS + 1][MOST_CORES]; /* run queues of each cgroup and of the root */
static struct rq rqs[MOST_CORES];
static struct job *runs[MOST_CORES]; /* job that each core runs; NULL if the core is idle */
static bool is_hard;
static u64 nr_exact, nr_named, nr_bounded, sum_exact_ns, sum_excluded_ns;

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	u64 serial = *(const u64 *)key;

	assert_true(serial >= 100 && serial < 100 + NR_TASKS);
	return &jobs[serial - 100].sum;
}

static long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags)
{
	return -1;
}

static u32 below(u32 n)
{
	return (u32)(uniform() * n);
}

static bool may_use(const struct job *job, u32 cpu)
{
	return job->task.cpus_mask.bits[cpu / 64] >> (cpu % 64) & 1;
}

static u32 some_core(const struct job *job)
{
	u32 cpu;

	do
		cpu = below(nr_cpus);
	while (!may_use(job, cpu));
	return cpu;
}

static void allow(struct job *job, u64 low, u64 high)
{
	job->task.cpus_mask.bits[0] = low;
	job->task.cpus_mask.bits[1] = high;
	job->task.nr_cpus_allowed = __builtin_popcountll(low) + __builtin_popcountll(high);
}

static void put(struct job *job, u32 cpu)
{
	job->core = cpu;
	job->task.thread_info.cpu = cpu;
	job->task.se.cfs_rq = &cfs[job - jobs][cpu];
}

static void pass(void)
{
	u64 ns = 1 + below(1000);

	shim_now += ns;
	for (u32 i = 0; i < NR_TASKS; i++) {
		struct job *job = &jobs[i];
		bool allowed = false, any = false;

		if (job->state != WAITS)
			continue;
		job->total_ns += ns;
		for (u32 cpu = 0; cpu < nr_cpus; cpu++) {
			any |= !runs[cpu];
			allowed |= !runs[cpu] && may_use(job, cpu);
		}
		if (job->task.throttled || !runs[job->core])
			continue;
		job->avoidable_ns += allowed ? ns : 0;
		job->excluded_ns += any && !allowed ? ns : 0;
	}
}

static void wait_starts(struct job *job)
{
	job->state = WAITS;
	job->avoidable_ns = job->excluded_ns = job->total_ns = 0;
	job->inexact = job->task.throttled;
}

static void wake(struct job *job)
{
	if (job->state != ASLEEP)
		return;
	put(job, some_core(job));
	wait_starts(job);
	job->task.__state = 0;
	avoidable_wakeup(NULL, &job->task);
}

static void check_wait(struct job *job, const struct runq_avoidable_waits *was, bool known)
{
	u64 least = job->sum.least_ns - was->least_ns, most = job->sum.most_ns - was->most_ns;

	assert_true(least <= job->avoidable_ns && job->avoidable_ns <= most);
	if (!known || job->inexact || tasks[job->task.pid].set == SET_UNKNOWN) {
		nr_bounded += known && least < most;
		return;
	}
	assert_int_equal(least, most);
	assert_int_equal(job->sum.excluded_ns - was->excluded_ns, job->excluded_ns);
	/*
	 * If the affinity changed during the wait, the task may no longer be allowed on the
	 * reported core.
	 */
	if (job->sum.cpu && !is_hard)
		assert_true(job->sum.cpu <= nr_cpus && may_use(job, job->sum.cpu - 1));
	nr_named += least && job->sum.cpu;
	nr_exact++;
	sum_exact_ns += least;
	sum_excluded_ns += job->excluded_ns;
}

static void dispatch_on(u32 cpu, bool known)
{
	struct job *prev = runs[cpu], *next = NULL;
	struct runq_avoidable_waits was;
	bool preempt = below(8) == 0;
	u64 args[3];

	for (u32 i = 0, from = below(NR_TASKS); i < NR_TASKS && !next && below(10); i++) {
		struct job *job = &jobs[(from + i) % NR_TASKS];

		if (job->state == WAITS && job->core == cpu && !job->task.throttled)
			next = job;
	}
	if (!prev && !next)
		return;
	if (next)
		was = next->sum;
	if (prev) {
		prev->task.__state = below(3) > 0;
		if (preempt || !prev->task.__state)
			wait_starts(prev);
		else
			prev->state = ASLEEP;
	}
	runs[cpu] = next;
	shim_cpu = cpu;
	args[0] = preempt;
	args[1] = (unsigned long)(prev ? &prev->task : &idle[cpu]);
	args[2] = (unsigned long)(next ? &next->task : &idle[cpu]);
	avoidable_switch(args);
	if (!next)
		return;
	next->state = RUNS;
	check_wait(next, &was, known);
}

static void move(struct job *job)
{
	u32 to = some_core(job);

	if (job->state != WAITS || to == job->core || job->task.throttled)
		return;
	avoidable_migrate(NULL, &job->task, to);
	put(job, to);
	/* After a migration, the throttled time on each of the cores is unknown. */
	job->inexact |= cfs[job - jobs][to].throttled_clock_self_time;
}

static void throttle(struct job *job)
{
	static u64 since[NR_TASKS];
	u64 *at = &since[job - jobs];

	if (job->task.throttled) {
		job->task.throttled = false;
		job->task.se.cfs_rq->throttled_clock_self_time += shim_now - *at;
	} else if (job->state == WAITS) {
		job->task.throttled = true;
		job->inexact = true;
		*at = shim_now;
	}
}

static void set_up(u32 cores, u64 seed)
{
	random_state = seed;
	shim_fields = " __state cpus_ptr cfs_rq throttled_clock_self_time throttled rq ";
	cgroup_v2 = true;
	nr_cpus = nr_possible = cores;
	mask_words = (cores + 63) / 64;
	shim_now = 1ULL << 60;
	memset(cpus, 0, sizeof(cpus));
	memset(sets, 0, sizeof(sets));
	memset(tasks, 0, sizeof(tasks));
	memset(jobs, 0, sizeof(jobs));
	memset(cfs, 0, sizeof(cfs));
	memset(runs, 0, sizeof(runs));
	nr_exact = nr_named = nr_bounded = sum_exact_ns = sum_excluded_ns = 0;
	for (u32 cpu = 0; cpu < cores; cpu++) {
		cpus[cpu].flags = 1ULL << RUNQ_AVOIDABLE_MEMBER;
		idle[cpu] = (struct task_struct){.thread_info.cpu = cpu, .se.cfs_rq = &cfs[NR_TASKS][cpu]};
		for (u32 i = 0; i <= NR_TASKS; i++)
			cfs[i][cpu].rq = &rqs[cpu];
		rqs[cpu] = (struct rq){.curr = &idle[cpu], .online = 1};
	}
	for (u32 i = 0; i < NR_TASKS; i++) {
		struct job *job = &jobs[i];

		job->task.pid = 1000 + i;
		job->task.cpus_ptr = &job->task.cpus_mask;
		job->task.cgroups = &job->css;
		job->css.dfl_cgrp = &job->group;
		job->group.self.serial_nr = 100 + i;
		put(job, i % cores);
	}
}

static void find_idle(void)
{
	for (u32 i = 0; i < nr_cpus; i++) {
		struct task_struct task = {.thread_info.cpu = i, .se.cfs_rq = &cfs[NR_TASKS][i]};

		avoidable_start(&(struct bpf_iter__task){.task = &task});
	}
	assert_int_equal(sets[0].nr, nr_cpus);
}

static void run(bool hard)
{
	is_hard = hard;
	for (u32 i = 0; i < NR_EVENTS; i++) {
		struct job *job = &jobs[below(NR_TASKS)];

		pass();
		switch (below(hard ? 12 : 10)) {
		case 0 ... 2:
			wake(job);
			break;
		case 3:
			move(job);
			break;
		case 10:
			throttle(job);
			break;
		case 11:
			/*
			 * The BPF programs compare the affinity mask once per wait, so a mask that
			 * changes and changes back is not detected.
			 */
			if (job->inexact)
				break;
			job->inexact = true;
			allow(job, (1 + below(15)) | 1ULL << job->core, 0);
			break;
		default:
			dispatch_on(below(nr_cpus), i > NR_EVENTS / 10);
		}
	}
}

TEST(exact)
{
	static const u64 masks[] = {0xf, 0x3, 0xc, 0x5, 0x7, 0xe, 0x1, 0x8};

	set_up(4, 1);
	for (u32 i = 0; i < NR_TASKS; i++)
		allow(&jobs[i], masks[i % 8], 0);
	find_idle();
	run(false);
	assert_true(nr_exact > 2000 && nr_named > 1000 && sum_exact_ns > 100000 && sum_excluded_ns > 100000);
	assert_int_equal(nr_bounded, 0);
}

TEST(many_cores)
{
	set_up(70, 2);
	for (u32 i = 0; i < NR_TASKS; i++)
		allow(&jobs[i], i % 3 ? 0x3 : ~0ULL, i % 3 == 1 ? 0x0 : 0x3f);
	find_idle();
	run(false);
	assert_true(nr_exact > 100 && sum_exact_ns > 1000);
	assert_int_equal(nr_bounded, 0);
}

TEST(bounds)
{
	for (u64 seed = 3; seed < 8; seed++) {
		set_up(4, seed);
		for (u32 i = 0; i < NR_TASKS; i++)
			allow(&jobs[i], 0xf, 0);
		find_idle();
		run(true);
		assert_true(nr_bounded > 100 && nr_exact > 100);
	}
}

/* A wait is not avoidable if affinity is fixed or migration disabled. */
TEST(fixed)
{
	struct job *waits = &jobs[0], *holder = &jobs[1];

	set_up(2, 1);
	find_idle();
	for (int i = 0; i < 3; i++) {
		struct runq_avoidable_waits was = waits->sum;

		allow(holder, 1, 0);
		wake(holder);
		dispatch_on(0, false);
		if (!runs[0]) {
			i--;
			continue;
		}
		allow(waits, i ? 1 : 3, 0);
		waits->task.flags = i == 1 ? PF_NO_SETAFFINITY : 0;
		waits->task.cpus_ptr = i ? &waits->task.cpus_mask : (void *)&was;
		put(waits, 0);
		waits->state = WAITS;
		waits->task.__state = 0;
		avoidable_wakeup(NULL, &waits->task);
		shim_now += 1000;
		avoid_count(&waits->task, 0, shim_now);
		assert_int_equal(waits->sum.most_ns, 0);
		assert_int_equal(waits->sum.excluded_ns, i == 2 ? 1000 : 0);
		tasks[waits->task.pid].since_ns = 0;
		waits->state = ASLEEP;
	}
}

/* An offline core runs its idle task, but does not count as an idle core for avoidable waits. */
TEST(offline)
{
	struct task_struct stopper = {.pid = 9, .flags = PF_KTHREAD, .__state = 1};
	u64 args[] = {0, (unsigned long)&stopper, (unsigned long)&idle[1]};

	set_up(2, 1);
	find_idle();
	shim_cpu = 1;
	core_leave(1, shim_now);
	rqs[1].online = 0;
	avoidable_switch(args);
	assert_int_equal(sets[0].nr, 1);
	rqs[1].online = 1;
	avoidable_switch(args);
	assert_int_equal(sets[0].nr, 2);
}

TEST_MAIN()
