/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests pressure (waiting time of a cgroup's tasks) on a simulated machine with a random schedule.
 */
#include "test.h"

#include "bpf_shim.h"
#include "tests/random.h"

static long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags);
static long bpf_map_pop_elem(void *map, void *value);
static long bpf_map_push_elem(void *map, const void *value, u64 flags);

/* Removes const, so that the tests can write the read-only data of the BPF programs. */
#define const
#include "bpf/runq_pressure.bpf.c"
#undef const

#include "measure/runq/pressure.h"

#define NR_CPUS	  3
#define NR_GROUPS 6 /* number of cgroups: the root, two children, and three grandchildren */
#define NR_TASKS  24
#define NR_CAUSES RUNQ_PRESSURE_NR_CAUSES
#define START	  1000000000ULL

static const int above[NR_GROUPS] = {-1, 0, 0, 1, 1, 2};

enum activity {
	ASLEEP,
	WAITS,
	RUNS
};

/* A simulated task. The task's state is computed independently of the BPF programs. */
struct task {
	struct task_struct kernel;
	int group; /* cgroup to which the task belonged at its last event */
	u32 cpu;
	enum activity activity;
	u32 cause;
	bool born;
};

static struct {
	struct cgroup cgroup[NR_GROUPS];
	struct css_set set[NR_GROUPS];
	struct cfs_rq cfs_rq;
	struct task_struct idle;
	struct task task[NR_TASKS];
	struct task *runs[NR_CPUS]; /* NULL if the core is idle */
	/* true if the core had a context switch, so that the BPF programs have run on the core */
	bool switched[NR_CPUS];
	struct runq_pressure_times truth[NR_GROUPS];
	struct {
		u64 key;
		u32 group;
	} index[NR_GROUPS];
	u32 nr_index, max_index;
	u32 free[NR_GROUPS];
	u32 nr_free;
	struct chain chain[NR_CHAINS];
	uint64_t random;
} sim;

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	if (map == &chains)
		return &sim.chain[*(const u32 *)key];
	assert_ptr_equal(map, &group_of);
	for (u32 i = 0; i < sim.nr_index; i++)
		if (sim.index[i].key == *(const u64 *)key)
			return &sim.index[i].group;
	return NULL;
}

static long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags)
{
	assert_ptr_equal(map, &group_of);
	assert_int_equal(flags, BPF_NOEXIST);
	if (sim.nr_index == sim.max_index)
		return -E2BIG;
	sim.index[sim.nr_index].key = *(const u64 *)key;
	sim.index[sim.nr_index++].group = *(const u32 *)value;
	return 0;
}

static long bpf_map_pop_elem(void *map, void *value)
{
	assert_ptr_equal(map, &free_groups);
	if (!sim.nr_free)
		return -ENOENT;
	*(u32 *)value = sim.free[--sim.nr_free];
	return 0;
}

static long bpf_map_push_elem(void *map, const void *value, u64 flags)
{
	assert_ptr_equal(map, &free_groups);
	sim.free[sim.nr_free++] = *(const u32 *)value;
	return 0;
}

static u64 below(u64 end)
{
	return xorshift64(&sim.random) % end;
}

static int reset(void **state)
{
	memset(&sim, 0, sizeof(sim));
	memset(groups, 0, sizeof(groups));
	memset(tasks, 0, sizeof(tasks));
	memset(cores, 0, sizeof(cores));
	last_group = full = shared = crowded = 0;
	cgroup_v2 = true;
	switch_state_first = false;
	shim_now = START;
	shim_fields = " __state throttled cfs_rq ";
	sim.random = 88172645463325252ULL;
	sim.max_index = NR_GROUPS;
	for (int i = 0; i < NR_GROUPS; i++) {
		sim.cgroup[i].self.serial_nr = i ? 100 + i : 0;
		sim.cgroup[i].self.cgroup = &sim.cgroup[i];
		sim.cgroup[i].self.flags = CSS_ONLINE;
		sim.cgroup[i].self.parent = i ? &sim.cgroup[above[i]].self : NULL;
		sim.set[i].dfl_cgrp = &sim.cgroup[i];
	}
	for (int i = 0; i < NR_TASKS; i++) {
		struct task *t = &sim.task[i];

		t->group = i % NR_GROUPS;
		t->kernel.pid = 50 + i;
		t->kernel.cgroups = &sim.set[t->group];
		t->kernel.se.cfs_rq = &sim.cfs_rq;
		t->kernel.__state = 1;
		if (i % (2 * NR_GROUPS) == 0)
			t->kernel.flags = PF_KTHREAD;
	}
	return 0;
}

static bool within(int group, int top)
{
	while (group >= 0 && group != top)
		group = above[group];
	return group == top;
}

/*
 * Returns the cause of the waits of tasks in @group, without its child cgroups. The cause CPU quota
 * takes precedence.
 */
static u32 own_cause(int group, bool *runs)
{
	u32 cause = NR_CAUSES;
	bool held = false;

	for (int i = 0; i < NR_TASKS; i++) {
		const struct task *t = &sim.task[i];

		if (t->group != group)
			continue;
		*runs |= t->activity == RUNS;
		if (t->activity != WAITS)
			continue;
		held |= t->cause == RUNQ_PRESSURE_QUOTA;
		cause = t->cause < cause ? t->cause : cause;
	}
	return held ? (u32)RUNQ_PRESSURE_QUOTA : cause;
}

/* Advances the time by @ns, and adds @ns to the expected pressure times of waiting groups. */
static void pass(u64 ns)
{
	for (int g = 0; g < NR_GROUPS; g++) {
		u32 cause = NR_CAUSES;
		bool runs = false;

		for (int below_it = 0; below_it < NR_GROUPS; below_it++)
			if (within(below_it, g)) {
				u32 own = own_cause(below_it, &runs);

				cause = own < cause ? own : cause;
			}
		if (cause == NR_CAUSES)
			continue;
		sim.truth[g].waiting_ns[cause] += ns;
		if (!runs)
			sim.truth[g].stalled_ns[cause] += ns;
	}
	shim_now += ns;
}

/* Updates the group of a task, which may have been moved to another cgroup. */
static void settle(struct task *t)
{
	for (int g = 0; g < NR_GROUPS; g++)
		if (t->kernel.cgroups == &sim.set[g])
			t->group = g;
}

static u32 cause_at(u32 cpu)
{
	if (!sim.switched[cpu])
		return RUNQ_PRESSURE_CONTENTION;
	if (!sim.runs[cpu])
		return RUNQ_PRESSURE_IDLE;
	return sim.runs[cpu]->kernel.flags & PF_KTHREAD ? RUNQ_PRESSURE_KTHREAD
							: RUNQ_PRESSURE_CONTENTION;
}

static void wake(struct task *t, u32 cpu)
{
	shim_cpu = below(NR_CPUS); /* CPU of the waker */
	if (t->activity == ASLEEP) {
		t->cpu = cpu;
		t->activity = WAITS;
		t->cause = t->kernel.throttled ? (u32)RUNQ_PRESSURE_QUOTA : cause_at(cpu);
		settle(t);
	}
	t->kernel.cpu = t->kernel.thread_info.cpu = t->cpu;
	t->kernel.__state = 0;
	t->kernel.on_rq = 1;
	if (t->born)
		runq_pressure_wakeup(NULL, &t->kernel);
	else
		runq_pressure_new(NULL, &t->kernel);
	t->born = true;
}

enum switch_reason {
	SLEEPS,
	PREEMPTED,
	YIELDS,
	ON_ITS_WAY,
	THROTTLED
};

static void give(u32 cpu, struct task *next, enum switch_reason how)
{
	struct task *prev = sim.runs[cpu];
	bool preempt = how == PREEMPTED || how == ON_ITS_WAY;
	u64 args[] = {preempt, (unsigned long)(prev ? &prev->kernel : &sim.idle),
		      (unsigned long)(next ? &next->kernel : &sim.idle)};

	sim.runs[cpu] = next;
	sim.switched[cpu] = true;
	if (prev) {
		prev->kernel.__state = how == SLEEPS || how == ON_ITS_WAY;
		prev->kernel.throttled = how == THROTTLED;
		prev->activity = how == SLEEPS ? ASLEEP : WAITS;
		prev->cause = how == THROTTLED ? (u32)RUNQ_PRESSURE_QUOTA : cause_at(cpu);
		settle(prev);
	}
	if (next) {
		next->kernel.throttled = false;
		next->kernel.on_cpu = 1;
		next->activity = RUNS;
		settle(next);
	}
	shim_cpu = cpu;
	runq_pressure_switch(args);
	if (prev)
		prev->kernel.on_cpu = 0;
}

static struct task *queued(u32 cpu)
{
	u32 from = below(NR_TASKS);

	for (u32 i = 0; i < NR_TASKS; i++) {
		struct task *t = &sim.task[(from + i) % NR_TASKS];

		if (t->activity == WAITS && t->cpu == cpu && !t->kernel.throttled)
			return t;
	}
	return NULL;
}

/* Only a core without runnable tasks goes idle. */
static void step_switch(void)
{
	u32 cpu = below(NR_CPUS);
	struct task *next = queued(cpu);
	enum switch_reason how = below(20) ? below(THROTTLED) : THROTTLED;

	if (!sim.runs[cpu] && !next)
		return;
	if (sim.runs[cpu] && !next && how != SLEEPS && how != THROTTLED)
		return;
	give(cpu, next, how);
}

/* If @busy is true, wakes more tasks than the machine has cores. */
static void step(bool busy)
{
	struct task *t = &sim.task[below(NR_TASKS)];

	switch (below(10)) {
	case 0 ... 3:
		/* A wake-up event may also occur for a task that already runs or waits. */
		if (busy || !below(20))
			wake(t, below(NR_CPUS));
		break;
	case 4:
		if (t->activity == WAITS)
			t->cpu = below(NR_CPUS);
		break;
	case 5:
		for (int i = 0; i < NR_TASKS; i++)
			sim.task[i].kernel.throttled = false;
		break;
	case 6:
		if (!below(8))
			t->kernel.cgroups = &sim.set[below(NR_GROUPS)];
		break;
	case 7:
		if (t->activity == ASLEEP)
			t->born = false;
		break;
	default:
		step_switch();
	}
}

static const struct runq_pressure_group *group_with(int g)
{
	u64 key = g ? 100 + g : 1;

	for (u32 i = 0; i < sim.nr_index; i++)
		if (sim.index[i].key == key)
			return &groups[sim.index[i].group];
	return NULL;
}

/* Ends a window for all groups, and adds the window's pressure times to @sum. */
static void cut(struct runq_pressure_times *base, struct runq_pressure_times *sum, u64 *was)
{
	struct runq_pressure_times more;

	for (int g = 0; g < NR_GROUPS; g++) {
		const struct runq_pressure_group *group = group_with(g);

		if (!group)
			continue;
		assert_true(runq_pressure_since(group, shim_now, shim_now - *was, &base[g], &more));
		for (int i = 0; i < NR_CAUSES; i++) {
			sum[g].waiting_ns[i] += more.waiting_ns[i];
			sum[g].stalled_ns[i] += more.stalled_ns[i];
		}
	}
	*was = shim_now;
}

static void compare(const struct runq_pressure_times *sum)
{
	for (int g = 0; g < NR_GROUPS; g++)
		for (int i = 0; i < NR_CAUSES; i++) {
			assert_int_equal(sum[g].waiting_ns[i], sim.truth[g].waiting_ns[i]);
			assert_int_equal(sum[g].stalled_ns[i], sim.truth[g].stalled_ns[i]);
		}
}

/*
 * Windows end at any time, also during waits. The pressure times of all windows must add up to the
 * expected times.
 */
static void run_schedule(u32 steps)
{
	struct runq_pressure_times base[NR_GROUPS] = {0}, sum[NR_GROUPS] = {0};
	u64 was = shim_now;

	for (u32 i = 0; i < steps; i++) {
		step(i / 500 % 2);
		pass(1 + below(100000));
		if (below(200))
			continue;
		cut(base, sum, &was);
		compare(sum);
	}
	cut(base, sum, &was);
	compare(sum);
	for (int g = 0; g < NR_GROUPS; g++)
		for (int i = 0; i < NR_CAUSES; i++)
			assert_true(sum[g].waiting_ns[i]);
	assert_int_equal(full + shared + crowded, 0);
}

TEST_WITH(test_union, reset, NULL)
{
	run_schedule(100000);
}

/* Before Linux 6.18 throttling removes a whole run queue, without an event for each task. */
TEST_WITH(test_quota_of_queues, reset, NULL)
{
	struct task *t = &sim.task[1];

	shim_fields = " __state cfs_rq throttle_count ";
	wake(t, 0);
	give(0, t, SLEEPS);
	sim.cfs_rq.throttle_count = 1;
	give(0, NULL, YIELDS);
	assert_int_equal(runq_pressure_cause(groups[1].state), RUNQ_PRESSURE_QUOTA);
	sim.cfs_rq.throttle_count = 0;
	give(0, t, SLEEPS);
	assert_int_equal(runq_pressure_cause(groups[1].state), NR_CAUSES);
	assert_int_equal(groups[1].state, 1ULL << RUNQ_PRESSURE_AT_RUNS);
}

/*
 * Two tasks share a table entry. The task woken last uses the entry, so only the wait of the task
 * woken first is lost.
 */
TEST_WITH(test_shared_entry, reset, NULL)
{
	struct task *a = &sim.task[1], *b = &sim.task[2];

	b->kernel.pid = a->kernel.pid + RUNQ_PRESSURE_TASKS;
	wake(a, 0);
	wake(b, 1);
	assert_int_equal(shared, 1);
	assert_int_equal(group_with(1)->state, 0);
	give(1, b, SLEEPS);
	give(0, a, SLEEPS);
	assert_int_equal(shared, 2);
	give(0, NULL, SLEEPS);
	give(1, NULL, SLEEPS);
	for (int g = 0; g < 3; g++)
		assert_int_equal(group_with(g)->state, 0);
}

/* Tasks that run or wait at the start are counted, unless an event has already counted them. */
TEST_WITH(test_tasks_before, reset, NULL)
{
	struct task *runs = &sim.task[1], *waits = &sim.task[3], *asleep = &sim.task[4];
	struct task *moved = &sim.task[5];
	struct bpf_iter__task ctx = {0};

	runs->kernel.on_cpu = runs->kernel.on_rq = waits->kernel.on_rq = 1;
	waits->kernel.__state = 0;
	wake(moved, 0);
	for (int i = 0; i < NR_TASKS; i++) {
		ctx.task = &sim.task[i].kernel;
		runq_pressure_tasks(&ctx);
	}
	ctx.task = NULL;
	runq_pressure_tasks(&ctx);
	assert_int_equal(asleep->activity, ASLEEP);
	assert_int_equal(groups[1].state,
			 (1ULL << RUNQ_PRESSURE_AT_RUNS) + (2ULL << RUNQ_PRESSURE_AT_CONTENTION));
	assert_int_equal(group_with(1)->state,
			 (1ULL << RUNQ_PRESSURE_AT_RUNS) + (1ULL << RUNQ_PRESSURE_AT_CONTENTION));
}

/*
 * The counters of a removed cgroup are marked as gone. A cgroup that is nested too deeply or gets
 * no cgroup number is counted as lost.
 */
TEST_WITH(test_groups_end, reset, NULL)
{
	struct cgroup deep[RUNQ_PRESSURE_DEPTH + 1] = {0};
	struct css_set set = {.dfl_cgrp = &deep[RUNQ_PRESSURE_DEPTH]};

	wake(&sim.task[1], 0);
	runq_pressure_rmdir(NULL, &sim.cgroup[1]);
	runq_pressure_rmdir(NULL, &sim.cgroup[2]);
	assert_true(group_with(1)->gone);
	assert_false(group_with(0)->gone);
	/* If a task wakes up in a removed cgroup, the new group is marked as gone immediately. */
	sim.cgroup[3].self.flags = 0;
	wake(&sim.task[3], 0);
	assert_true(group_with(3)->gone);
	for (int i = 0; i <= RUNQ_PRESSURE_DEPTH; i++) {
		deep[i].self.serial_nr = 1000 + i;
		deep[i].self.cgroup = &deep[i];
		deep[i].self.parent = i ? &deep[i - 1].self : NULL;
	}
	sim.task[2].kernel.cgroups = &set;
	wake(&sim.task[2], 0);
	assert_int_equal(full, 1);
	/*
	 * If the map of cgroup numbers is full, the number reserved for a new cgroup is freed
	 * again.
	 */
	sim.max_index = sim.nr_index;
	wake(&sim.task[5], 0);
	assert_int_equal(full, 2);
	assert_int_equal(sim.nr_free, 1);
	assert_int_equal(group_with(0)->state, 2ULL << RUNQ_PRESSURE_AT_CONTENTION);
}

TEST(test_half_done)
{
	struct runq_pressure_group group = {.state = 1ULL << RUNQ_PRESSURE_AT_IDLE};
	struct runq_pressure_times base = {0}, more;

	assert_false(runq_pressure_since(&group, 5000, 1000, &base, &more));
	group.waiting[RUNQ_PRESSURE_IDLE] = -(4200 + RUNQ_PRESSURE_STAMP);
	assert_false(runq_pressure_since(&group, 5000, 1000, &base, &more));
	group.stalled[RUNQ_PRESSURE_IDLE] = -(4200 + RUNQ_PRESSURE_STAMP);
	assert_true(runq_pressure_since(&group, 5000, 1000, &base, &more));
	assert_int_equal(more.waiting_ns[RUNQ_PRESSURE_IDLE], 800);
	/* Pressure time that exceeds the window is counted in the next window. */
	assert_true(runq_pressure_since(&group, 6000, 900, &base, &more));
	assert_int_equal(more.waiting_ns[RUNQ_PRESSURE_IDLE], 900);
	assert_true(runq_pressure_since(&group, 5800, 0, &base, &more));
	assert_int_equal(more.waiting_ns[RUNQ_PRESSURE_IDLE], 0);
	assert_true(runq_pressure_since(&group, 6100, 500, &base, &more));
	assert_int_equal(more.waiting_ns[RUNQ_PRESSURE_IDLE], 200);
}

TEST_MAIN()
