/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the BPF programs of `subtick runq` on a random schedule and compares every counter. */
#include "runq_core.h"

#include "stats/hist.h"
#include "stats/runq.h"
#include "tests/random.h"

#define NR_GROUPS 4
#define NR_TASKS  9
#define NR_LE	  6
#define HISTORY	  (1 << 16)

static const uint64_t le[NR_LE] = {1000, 4000, 10000, 16384, 50000, 1000000};

/* Entry of the complete history of a core, with which the counters are compared. */
struct dispatch_entry {
	u64 start;
	const struct task *task; /* task that was dispatched, or NULL for idle */
	u64 key; /* key of @task as a culprit, when @task was dispatched */
};

struct task {
	struct task_struct kernel;
	u32 group, cpu;
	u32 lost; /* core on which the task was preempted, or NR_CPUS if the task was woken */
	bool waits;
	/* start of the wait on the current core, and earlier wait time on other cores */
	u64 since, moved_ns;
};

struct truth {
	u64 count, sum_ns, max_ns, cause_ns[RUNQ_NR_CAUSES], bucket[HIST_NR], le[NR_LE];
	struct runq_row row[NR_BLAME];
	u32 nr_rows;
};

static struct {
	struct kernfs_node kn[NR_GROUPS];
	struct cgroup cgroup[NR_GROUPS];
	struct css_set css[NR_GROUPS];
	struct cfs_rq cfs_rq[NR_GROUPS][NR_CPUS];
	struct task_struct idle[NR_CPUS];
	struct task task[NR_TASKS];
	struct task *runs[NR_CPUS]; /* NULL if the core is idle */
	struct dispatch_entry past[NR_CPUS][HISTORY];
	u32 nr_past[NR_CPUS];
	struct truth truth[NR_GROUPS];
	u64 switches[NR_CPUS], wait_ns[NR_CPUS];
	int (*program)(u64 *);
	bool late; /* true if a wake-up may preempt a task without an update of rq->clock */
	u32 unwanted; /* bit mask of excluded groups */
	uint64_t random;
} sim;

static u64 below(u64 end)
{
	return xorshift64(&sim.random) % end;
}

static u64 key_of_group(u32 group)
{
	/* With these keys, all groups except the root share one entry in the cache of groups. */
	return group ? 100 + 64 * group : 1;
}

static void sim_reset(int (*program)(u64 *), u64 seed)
{
	fake_reset();
	memset(&sim, 0, sizeof(sim));
	sim.program = program;
	want_load = seed & 1;
	sim.random = seed;
	fake_boundaries(le, NR_LE);
	for (u32 i = 0; i < NR_GROUPS; i++) {
		sim.kn[i] = (struct kernfs_node){.name = "group",
						 .id = 1000 + i,
						 .__parent = i ? &sim.kn[0] : NULL,
						 .parent = i ? &sim.kn[0] : NULL};
		/* The root cgroup of the unified hierarchy has the number 0. */
		sim.cgroup[i] = (struct cgroup){
			.self = {&sim.cgroup[i], CSS_ONLINE, i ? key_of_group(i) : 0, NULL},
			.kn = &sim.kn[i]};
		sim.css[i].dfl_cgrp = &sim.cgroup[i];
		for (u32 cpu = 0; cpu < NR_CPUS; cpu++)
			sim.cfs_rq[i][cpu].rq = &fake.rq[cpu];
	}
	for (u32 cpu = 0; cpu < NR_CPUS; cpu++) {
		sim.idle[cpu] = (struct task_struct){.flags = PF_KTHREAD, .comm = "swapper"};
		sim.idle[cpu].cgroups = &sim.css[0];
		sim.idle[cpu].se.cfs_rq = &sim.cfs_rq[0][cpu];
		sim.past[cpu][sim.nr_past[cpu]++] = (struct dispatch_entry){0};
	}
	for (u32 i = 0; i < NR_TASKS; i++) {
		struct task *task = &sim.task[i];

		task->group = i % NR_GROUPS;
		task->kernel.pid = 100 + i + i * RUNQ_NR_TASKS;
		task->kernel.cgroups = &sim.css[task->group];
		if (task->group == 0)
			task->kernel.flags = PF_KTHREAD;
		task->kernel.sched_info.run_delay = 1000 * i;
		task->kernel.start_time = 1000000 * i;
	}
}

static u64 key_of_task(const struct task *task)
{
	if (!task)
		return RUNQ_KEY_IDLE;
	if (task->kernel.flags & PF_KTHREAD)
		return RUNQ_KEY_KTHREAD;
	return sim.unwanted >> task->group & 1 ? RUNQ_KEY_EXCLUDED : key_of_group(task->group);
}

static void truth_blame(struct truth *truth, u64 culprit, u64 ns)
{
	u32 i;

	for (i = 0; i < truth->nr_rows; i++)
		if (truth->row[i].pair.culprit == culprit)
			break;
	truth->nr_rows += i == truth->nr_rows;
	truth->row[i].pair.culprit = culprit;
	truth->row[i].charge.wait_ns += ns;
	truth->row[i].charge.count++;
}

static void truth_causes(struct truth *truth, const struct task *task, u64 now)
{
	const struct dispatch_entry *past = sim.past[task->cpu];

	for (u32 i = sim.nr_past[task->cpu]; i-- > 0;) {
		u64 end = i + 1 == sim.nr_past[task->cpu] ? now : past[i + 1].start;
		u64 from = past[i].start > task->since ? past[i].start : task->since;
		const struct task *ran = past[i].task;
		enum runq_cause cause = RUNQ_OTHER;

		if (end <= task->since)
			break;
		/* The task that ran before the first switch of a core is unknown. */
		if (!i)
			cause = RUNQ_UNKNOWN;
		else if (!ran)
			cause = RUNQ_IDLE;
		else if (ran->kernel.flags & PF_KTHREAD)
			cause = RUNQ_KTHREAD;
		else if (ran->group == task->group)
			cause = RUNQ_SAME;
		truth->cause_ns[task->lost == task->cpu ? RUNQ_PREEMPTED : cause] += end - from;
		truth_blame(truth, i ? past[i].key : RUNQ_KEY_UNKNOWN, end - from);
	}
}

static void truth_wait(const struct task *task, u64 now, bool booked)
{
	struct truth *truth = &sim.truth[task->group];
	u64 ns = now - task->since + task->moved_ns;

	/* When sampling without causes, the BPF programs skip waits that are not sampled. */
	if (!booked && want_sample && !want_causes)
		return;
	sim.switches[task->cpu]++;
	sim.wait_ns[task->cpu] += ns;
	if (!booked)
		return;
	truth->count++;
	truth->sum_ns += ns;
	if (ns > truth->max_ns)
		truth->max_ns = ns;
	truth->bucket[hist_index(ns)]++;
	for (u32 i = 0; i < NR_LE; i++)
		truth->le[i] += ns <= le[i];
	truth_causes(truth, task, now);
	truth->cause_ns[RUNQ_MIGRATED] += task->moved_ns;
	if (task->moved_ns)
		truth_blame(truth, RUNQ_KEY_MOVED, task->moved_ns);
}

static void sim_wake(struct task *task, u32 cpu)
{
	task->cpu = cpu;
	task->lost = NR_CPUS;
	task->waits = true;
	task->since = shim_now;
	task->moved_ns = 0;
	fake_clock(cpu);
	fake_enqueue(&task->kernel, &sim.cfs_rq[task->group][cpu]);
	if (by_wakeup)
		runq_wakeup(NULL, &task->kernel);
}

static void sim_move(struct task *task, u32 cpu)
{
	fake_clock(task->cpu);
	fake_clock(cpu);
	fake_dequeue(&task->kernel);
	fake_enqueue(&task->kernel, &sim.cfs_rq[task->group][cpu]);
	/* With --source wakeup the BPF programs do not record migrations. */
	if (!by_wakeup) {
		task->moved_ns += shim_now - task->since;
		task->since = shim_now;
		task->lost = NR_CPUS;
	}
	task->cpu = cpu;
}

static void sim_switch(u32 cpu, struct task *next, bool sleeps)
{
	struct task *prev = sim.runs[cpu];

	bool booked = next && (!want_sample || task_sampled(&next->kernel));

	/* Since Linux 6.12 a sleeping task may stay in the run queue until the next pick. */
	fake.rq[cpu].nr_running = 0;
	for (u32 i = 0; i < NR_TASKS; i++)
		fake.rq[cpu].nr_running += sim.task[i].waits && sim.task[i].cpu == cpu;
	if (prev) {
		prev->kernel.se.on_rq = !sleeps || (next && below(2));
		fake.rq[cpu].nr_running += prev->kernel.se.on_rq;
	}
	fake_switch(cpu, sim.program, prev ? &prev->kernel : &sim.idle[cpu],
		    next ? &next->kernel : &sim.idle[cpu], sleeps);
	if (next) {
		truth_wait(next, shim_now, booked);
		next->waits = false;
	}
	if (prev && !sleeps) {
		prev->lost = cpu;
		prev->waits = true;
		prev->since = shim_now;
		prev->moved_ns = 0;
	}
	sim.runs[cpu] = next;
	sim.past[cpu][sim.nr_past[cpu]++] =
		(struct dispatch_entry){shim_now, next, key_of_task(next)};
}

static void sim_pass(u64 most_ns)
{
	shim_now += 1 + below(most_ns);
}

static struct task *sim_pick(u32 cpu)
{
	struct task *oldest = NULL;

	for (u32 i = 0; i < NR_TASKS; i++)
		if (sim.task[i].waits && sim.task[i].cpu == cpu &&
		    (!oldest || sim.task[i].since < oldest->since))
			oldest = &sim.task[i];
	return oldest;
}

static bool sim_runs(const struct task *task)
{
	return sim.runs[0] == task || sim.runs[1] == task;
}

/* May wake another task, then dispatches @task. The dispatch does not update rq->clock. */
static void sim_preempt(struct task *task, u32 cpu)
{
	struct task *more = &sim.task[below(NR_TASKS)];
	bool sleeps = sim.runs[cpu] && below(2);

	if (!sleeps && !more->waits && !sim_runs(more)) {
		sim_pass(20000);
		sim_wake(more, cpu);
	}
	sim_pass(20000);
	sim_switch(cpu, task, sleeps);
}

/* Iterates over all tasks, as user space does to compare waits with run_delay. */
static void sim_walk(void)
{
	for (u32 i = 0; i < NR_TASKS; i++)
		runq_delays(&(struct bpf_iter__task){.task = &sim.task[i].kernel});
}

static void sim_step(void)
{
	struct task *task = &sim.task[below(NR_TASKS)];
	u32 cpu = below(NR_CPUS);

	sim_pass(below(40) ? 3000 : 300000);
	if (below(50) == 0)
		sim_walk();
	if (sim_runs(task)) {
		cpu = sim.runs[1] == task;
		fake_clock(cpu);
		sim_switch(cpu, sim_pick(cpu), true);
	} else if (task->waits) {
		if (below(4) == 0)
			sim_move(task, !task->cpu);
	} else {
		sim_wake(task, cpu);
		/* A wake-up may request a switch without an update of the run queue's clock. */
		if (sim.late && below(2)) {
			sim_preempt(task, cpu);
			return;
		}
	}
	sim_pass(500);
	if (sim_pick(cpu) && (!sim.runs[cpu] || below(3) == 0)) {
		fake_clock(cpu);
		sim_switch(cpu, sim_pick(cpu), false);
	}
}

static void sim_drain(void)
{
	for (u32 cpu = 0; cpu < NR_CPUS; cpu++)
		while (sim.runs[cpu] || sim_pick(cpu)) {
			sim_pass(1000);
			fake_clock(cpu);
			sim_switch(cpu, sim_pick(cpu), true);
		}
}

static void check_totals(const struct truth *truth, struct runq_head *head)
{
	struct fake_totals totals = fake_read(head);
	uint64_t counts[NR_LE];

	assert_int_equal(totals.count, truth->count);
	assert_int_equal(totals.sum_ns, truth->sum_ns);
	assert_int_equal(totals.max_ns, truth->max_ns);
	for (u32 i = 0; want_causes && i < RUNQ_NR_CAUSES; i++)
		assert_int_equal(totals.cause_ns[i], truth->cause_ns[i]);
	for (u32 i = 0; !(layout.kind & RUNQ_STEPS) && i < HIST_NR; i++)
		assert_int_equal(totals.bucket[i], truth->bucket[i]);
	fake_le_counts(head, le, NR_LE, counts);
	for (u32 i = 0; i < NR_LE; i++)
		assert_int_equal(counts[i], truth->le[i]);
}

static void check_group(u32 group)
{
	const struct truth *truth = &sim.truth[group];
	struct runq_head *head = fake_head(key_of_group(group));

	assert_non_null(head);
	assert_int_equal(head->cgroup_id, 1000 + group);
	check_totals(truth, head);
	for (u32 i = 0; want_blame && i < truth->nr_rows; i++) {
		const struct runq_row *row =
			fake_row(key_of_group(group), truth->row[i].pair.culprit);

		assert_non_null(row);
		assert_int_equal(row->charge.wait_ns, truth->row[i].charge.wait_ns);
		assert_int_equal(row->charge.count, truth->row[i].charge.count);
	}
}

static void check_all(void)
{
	s64 booked = 0, unbooked = 0, waited = fake_waited(), truth = 0;
	u32 rows = 0;

	for (u32 i = 0; i < NR_GROUPS; i++) {
		check_group(i);
		rows += sim.truth[i].nr_rows;
	}
	fake_fold();
	assert_int_equal(fake.nr_rows, want_blame ? rows : 0);
	for (u32 cpu = 0; cpu < NR_CPUS; cpu++) {
		const struct runq_cpu *pc = &cores[cpu].runq;

		/*
		 * Both paths of the BPF program must have run: the slow path and the fast path.
		 * runq_general has no fast path.
		 */
		assert_true(pc->switches > sim.switches[cpu] / 100);
		if (sim.program == runq_general)
			assert_int_equal(pc->switches, sim.switches[cpu]);
		else
			assert_true(pc->switches < sim.switches[cpu] * (want_causes ? 0.97 : 0.7));
		assert_int_equal(pc->unknown_start + pc->negative + pc->table_full, 0);
		truth += sim.wait_ns[cpu];
		unbooked += pc->missing_ns;
	}
	/*
	 * With causes, the slow path counts all waits and the fast path only sampled waits, so the
	 * total differs from the true wait time.
	 */
	if (want_sample && want_causes && sim.program != runq_general)
		return;
	assert_int_equal(waited, truth);
	if (want_sample && !want_causes)
		return;
	/* The BPF programs count to the nanosecond how much wait time run_delay omits. */
	for (u32 i = 0; i < NR_TASKS; i++)
		booked += sim.task[i].kernel.sched_info.run_delay - 1000 * i;
	assert_int_equal(waited - booked, unbooked);
}

static void sim_begin(void)
{
	/* sim_walk() stores each task's run_delay at the start of the schedule. */
	sim_walk();
	/* On each core the BPF programs need one context switch at which rq->clock has no lag. */
	for (u32 cpu = 0; cpu < NR_CPUS; cpu++) {
		sim_pass(100);
		sim_wake(&sim.task[cpu], cpu);
		sim_pass(100);
		fake_clock(cpu);
		sim_switch(cpu, &sim.task[cpu], false);
	}
}

static void sim_run(u32 steps)
{
	sim_begin();
	/* As in user space, the sampling ratio is set after the setup in sim_begin(). */
	if (want_sample)
		sample.below = 1ULL << 62;
	for (u32 i = 0; i < steps; i++)
		sim_step();
	sim_drain();
	check_all();
}

TEST(by_cgroup)
{
	for (u64 seed = 1; seed <= 6; seed++) {
		sim_reset(runq_causes, seed * 77);
		sim_run(6000);
	}
}

TEST(pairs_collide)
{
	u32 taken = 0;

	sim_reset(runq_causes, 78);
	for (u32 i = 0; i < NR_CPUS * RUNQ_NR_PAIRS; i += 3)
		pairs_area[i].pair = 1; /* occupied: no pair of groups has this value */
	sim_begin();
	for (u32 i = 0; i < 6000; i++)
		sim_step();
	sim_drain();
	for (u32 i = 0; i < NR_CPUS * RUNQ_NR_PAIRS; i++) {
		taken += pairs_area[i].pair > 1;
		if (pairs_area[i].pair == 1)
			pairs_area[i].pair = 0;
	}
	assert_true(taken > 0 && fake.nr_rows > 0);
	check_all();
}

TEST(without_blame)
{
	sim_reset(runq_causes, 5);
	want_blame = false;
	sim_run(6000);
}

TEST(without_causes)
{
	for (u64 seed = 1; seed <= 6; seed++) {
		sim_reset(runq_plain, seed * 55);
		want_blame = want_causes = false;
		sim.late = seed % 2;
		sim_run(6000);
		for (u32 i = 0; i < NR_CPUS * RUNQ_NR_SEGS; i++)
			assert_int_equal(cores[i / RUNQ_NR_SEGS].runq.segs[i % RUNQ_NR_SEGS].start_ns,
					 0);
	}
}

TEST(steps)
{
	static int (*const programs[])(u64 *) = {runq_plain, runq_causes,
						 runq_causes, runq_general};

	for (u32 i = 0; i < 4; i++) {
		sim_reset(programs[i], 555 + i);
		fake_layout(true);
		want_causes = i > 0;
		want_blame = i > 1;
		sim.late = true;
		sim_run(6000);
	}
}

static u64 counted(u32 group)
{
	return fake_read(fake_head(key_of_group(group))).count;
}

static void leave_out(u32 group)
{
	fake_unwanted(key_of_group(group));
	sim.unwanted |= 1u << group;
}

/*
 * The counters of excluded groups do not change. In blame, excluded groups are the culprit
 * RUNQ_KEY_EXCLUDED. All waits of groups that are not excluded are counted.
 */
TEST(filtered)
{
	static const struct {
		int (*program)(u64 *);
		bool old, causes;
	} programs[] = {
		{.program = runq_some},
		{.program = runq_some, .old = true},
		{.program = runq_general},
		{.program = runq_causes, .causes = true},
		{.program = runq_causes, .old = true, .causes = true},
		{.program = runq_general, .causes = true},
	};

	for (u32 i = 0; i < 18; i++) {
		u64 was[NR_GROUPS], seen = 0, all = 0;

		sim_reset(programs[i % 6].program, 4321 + i);
		want_blame = want_causes = programs[i % 6].causes;
		want_filter = true;
		fake.old = programs[i % 6].old;
		sim.late = i / 6 % 2;
		sim_begin();
		for (u32 step = 0; step < 500; step++)
			sim_step();
		leave_out(0); /* the root cgroup with its kernel threads */
		leave_out(2);
		for (u32 group = 0; group < NR_GROUPS; group++)
			was[group] = counted(group);
		for (u32 step = 0; step < 5000; step++)
			sim_step();
		sim_drain();
		for (u32 group = 0; group < NR_GROUPS; group++) {
			if (group % 2)
				check_group(group);
			else
				assert_int_equal(counted(group), was[group]);
			seen += counted(group);
			all += sim.truth[group].count;
		}
		assert_true(seen < all * 2 / 3);
		for (u32 cpu = 0; cpu < NR_CPUS; cpu++)
			assert_int_equal(cores[cpu].runq.unknown_start + cores[cpu].runq.negative +
						 cores[cpu].runq.table_full,
					 0);
	}
}

/* Tests the general program with cgroup v1 and with histograms that several cores share. */
TEST(any_case_v1)
{
	sim_reset(runq_general, 9);
	cgroup_v2 = false;
	layout.kind = RUNQ_SHARED;
	layout.stripes = 1;
	switch_state_first = true;
	for (u32 i = 0; i < NR_GROUPS; i++) {
		static struct cgroup_subsys_state css[NR_GROUPS];

		css[i] = (struct cgroup_subsys_state){&sim.cgroup[i], CSS_ONLINE, key_of_group(i),
					      NULL};
		sim.css[i].subsys[0] = &css[i];
		sim.css[i].dfl_cgrp = NULL;
	}
	sim_run(6000);
}

/*
 * At a switch that a wake-up requested, the kernel does not update rq->clock. Measured waits
 * include the time since the last update.
 */
TEST(late_clock)
{
	for (u64 seed = 1; seed <= 6; seed++) {
		sim_reset(runq_causes, seed * 177);
		sim.late = true;
		sim_run(6000);
	}
}

/*
 * If the kernel's task clock omits interrupts or steal, waits are measured with the run queue's
 * clock.
 */
TEST(subtracting_kernel)
{
	static int (*const programs[])(u64 *) = {runq_plain, runq_causes,
						 runq_causes, runq_causes};

	for (u32 i = 0; i < 8; i++) {
		sim_reset(programs[i / 2], 4711 + i);
		fake_layout(i / 2 == 3);
		fake.subtracted = 5000;
		want_causes = i / 2 > 0;
		want_blame = i / 2 > 1;
		sim.late = i % 2;
		sim_run(6000);
	}
}

TEST(old_kernel)
{
	sim_reset(runq_causes, 1234);
	fake.old = true;
	shim_fields = OLD_KERNEL;
	sim.late = true;
	sim_run(6000);
}

TEST(own_stamps)
{
	sim_reset(runq_general, 31);
	by_wakeup = true;
	sim.late = true;
	sim_run(6000);
}

static u64 taken(void)
{
	u64 count = 0;

	for (u32 i = 0; i < NR_GROUPS; i++)
		count += sim.truth[i].count;
	return count;
}

/*
 * One in four waits is sampled. The counters of groups have the sampled waits, and the totals of a
 * core have all waits.
 */
TEST(sampled)
{
	u64 all = 0;

	sim_reset(runq_general, 99);
	want_sample = true;
	sim_run(12000);
	for (u32 cpu = 0; cpu < NR_CPUS; cpu++)
		all += cores[cpu].runq.switches;
	assert_true(taken() > all / 5 && taken() < all * 3 / 10);
}

/* Without causes, waits that are not sampled change no counter. Sampled waits are exact. */
TEST(sampled_alone)
{
	for (u64 seed = 1; seed <= 6; seed++) {
		sim_reset(runq_some, seed * 991);
		want_blame = want_causes = false;
		want_sample = true;
		sample.factor *= 2 * seed + 1;
		sim.late = seed % 2;
		sim_run(6000);
		assert_true(taken() > 500);
	}
}

/*
 * With causes, waits that are not sampled are in the core's history, so the causes of sampled waits
 * are exact.
 */
TEST(sampled_causes)
{
	for (u64 seed = 1; seed <= 6; seed++) {
		sim_reset(runq_causes, seed * 733);
		fake.old = seed % 3 == 0;
		want_sample = true;
		want_load = seed % 4 == 0;
		sample.factor *= 2 * seed + 1;
		sim.late = seed % 2;
		sim_run(6000);
		assert_true(taken() > 500);
	}
}

TEST_MAIN()
