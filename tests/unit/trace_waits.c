/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests waits in a trace of five cores with a random schedule, and the end of the recording. */
#include "trace_core.h"

#define NR_SIM	 9
#define MAX_WAIT 100000

/* Tests quotas with the task fields of Linux 6.18 and of Linux 5.19. */
static const char *const quota_fields[] = {
	" __state throttled cfs_rq depth throttled_clock_self throttled_clock_self_time ",
	" __state cfs_rq depth throttle_count throttled_clock throttled_clock_pelt_time ",
};

static struct sim_task {
	struct task_struct kernel;
	/* run queue of the task's cgroup; each task is in a separate cgroup */
	struct cfs_rq queue;
	u64 hold_age; /* time for which the task was throttled before the start of its wait */
	u32 throttled_cpu;
	enum { SLEEPS, WAITS, RUNS_HERE } does;
	u64 since, waking_ns;
	bool woken, throttled;
	u32 waker, waker_cpu;
} sim[NR_SIM];
static struct sim_task *runs[NR_CPUS]; /* NULL if the core is idle */
static struct trace_wait truth[MAX_WAIT];
static size_t nr_truth;
static u64 now_ns;
static struct rq sim_rq;
static struct cfs_rq root_queue = {.rq = &sim_rq};

/* Begins a wait. One wait in four is throttled. The throttling may have begun before the wait. */
static void maybe_throttled(struct sim_task *t, u64 oldest)
{
	bool throttled = below(4) == 0;

	sim_rq.clock = 7777 + now_ns;
	t->hold_age = throttled ? below(oldest) : 0;
	t->throttled_cpu = t->kernel.thread_info.cpu;
	t->kernel.throttled = throttled;
	t->queue.throttle_count = t->queue.throttled = throttled;
	t->queue.throttled_clock = sim_rq.clock - t->hold_age;
	t->queue.throttled_clock_self = throttled ? sim_rq.clock - t->hold_age : 0;
}

/*
 * Ends the throttling of a waiting task. Returns the throttled time of the wait if the kernel
 * reports when the throttling began, else 0.
 */
static u64 hold_over(struct sim_task *t, u32 cpu)
{
	u64 ns = 1 + below(now_ns - t->since);

	t->kernel.thread_info.cpu = cpu;
	if (!t->throttled)
		return 0;
	t->queue.throttled_clock_self_time += t->hold_age + ns;
	t->queue.throttled_clock_pelt_time += t->hold_age + ns;
	t->queue.throttled_clock_self = t->queue.throttle_count = t->queue.throttled = 0;
	t->kernel.throttled = false;
	return cpu == t->throttled_cpu ? ns : 0;
}

static void on_cpu(u32 cpu)
{
	shim_cpu = cpu;
	shim_current = runs[cpu] ? &runs[cpu]->kernel : &idle;
	at(++now_ns);
}

/*
 * Simulates try_to_wake_up(), which may move the task to another core. The waker or the new core
 * enqueues the task.
 */
static void wakes(struct sim_task *t, u32 cpu)
{
	u32 to = below(NR_CPUS), last = t->kernel.thread_info.cpu;

	on_cpu(cpu);
	t->waking_ns = now_ns;
	t->kernel.__state = 0x200;
	trace_sees_waking(&t->kernel);
	now_ns += below(20);
	if (to != last) {
		on_cpu(cpu);
		trace_migrate(NULL, &t->kernel, to);
		t->kernel.thread_info.cpu = to;
	}
	on_cpu(below(2) ? to : cpu);
	maybe_throttled(t, 500);
	t->kernel.__state = 0;
	trace_sees_wakeup(&t->kernel);
	*t = (struct sim_task){.kernel = t->kernel,
			       .queue = t->queue,
			       .hold_age = t->hold_age,
			       .throttled_cpu = t->throttled_cpu,
			       .does = WAITS,
			       .since = now_ns,
			       .woken = true,
			       .throttled = t->kernel.throttled,
			       /*
			        * There is no waking event if the task last ran on the core of the
			        * waker.
			        */
			       .waking_ns = last == cpu ? 0 : t->waking_ns,
			       .waker = runs[cpu] ? (u32)runs[cpu]->kernel.pid : 0,
			       .waker_cpu = cpu};
	/* A wake-up of a task that already waits or runs changes nothing. */
	if (below(3) == 0) {
		at(++now_ns);
		trace_sees_wakeup(&t->kernel);
	}
}

static struct sim_task *pick(int does)
{
	u64 first = below(NR_SIM);

	for (int i = 0; i < NR_SIM; i++)
		if ((int)sim[(first + i) % NR_SIM].does == does)
			return &sim[(first + i) % NR_SIM];
	return NULL;
}

static void switches(u32 cpu)
{
	struct sim_task *prev = runs[cpu], *next = pick(WAITS);
	bool sleeps = prev && below(2), preempted = sleeps && below(4) == 0;
	u64 throttled_ns = 0;

	if (next == prev || (!next && !sleeps))
		return;
	on_cpu(cpu);
	if (prev) {
		/* A task that is preempted on its way to sleep stays runnable. */
		prev->kernel.__state = sleeps ? below(2) ? 1 : 0x400 : 0;
		if (!sleeps || preempted)
			maybe_throttled(prev, 1);
		*prev = (struct sim_task){.kernel = prev->kernel,
					  .queue = prev->queue,
					  .hold_age = prev->hold_age,
					  .throttled_cpu = prev->throttled_cpu,
					  .since = now_ns,
					  .throttled = prev->kernel.throttled,
					  .does = sleeps && !preempted ? SLEEPS : WAITS};
	}
	if (next)
		throttled_ns = hold_over(next, cpu);
	trace_sees_switch(shim_current, next ? &next->kernel : &idle, preempted);
	if (next) {
		truth[nr_truth++] = (struct trace_wait){.from_ns = next->since,
							.to_ns = now_ns,
							.pid = next->kernel.pid,
							.cpu = cpu,
							.woken = next->woken,
							.throttled = next->throttled,
							.throttled_ns = throttled_ns,
							.waker = next->waker,
							.waker_cpu = next->waker_cpu,
							.waking_ns = next->waking_ns};
		next->does = RUNS_HERE;
	}
	runs[cpu] = next;
}

static void sim_begin(u64 seed, u32 nr_edges)
{
	trace_reset(nr_edges);
	memset(sim, 0, sizeof(sim));
	memset(runs, 0, sizeof(runs));
	core.random = seed;
	now_ns = nr_truth = 0;
	shim_fields = quota_fields[seed % 2];
	trace_lean = seed % 4 < 2;
	idle.se.cfs_rq = &root_queue;
	for (int i = 0; i < NR_SIM; i++) {
		sim[i].queue.rq = &sim_rq;
		sim[i].kernel = (struct task_struct){
			.pid = 100 + i, .cgroups = &trace_css, .se.cfs_rq = &sim[i].queue, .se.depth = 1};
		name_note(name_at(100 + i), &sim[i].kernel);
	}
}

static void sim_step(void)
{
	struct sim_task *t = pick(SLEEPS);

	now_ns += below(1000);
	if (t && below(2))
		wakes(t, below(NR_CPUS));
	else
		switches(below(NR_CPUS));
}

static struct trace_waits find(struct trace_reader *readers)
{
	struct trace_core copies[NR_CPUS];
	struct trace_waits waits;

	for (u32 cpu = 0; cpu < NR_CPUS; cpu++) {
		readers[cpu] = read_all(cpu, now_ns);
		copies[cpu] = readers[cpu].core;
	}
	assert_int_equal(trace_find_waits(copies, NR_CPUS, &waits), 0);
	for (u32 cpu = 0; cpu < NR_CPUS; cpu++)
		trace_ring_free(&readers[cpu]);
	return waits;
}

TEST(every_wait_is_found)
{
	struct trace_reader readers[NR_CPUS];

	for (u64 seed = 1; seed <= 20; seed++) {
		struct trace_waits waits;
		u64 sum = 0, woken = 0, throttled = 0;

		sim_begin(seed, 1 << 14);
		for (int i = 0; i < 4000; i++)
			sim_step();
		waits = find(readers);
		assert_true(nr_truth > 1000);
		assert_int_equal(waits.nr, nr_truth);
		assert_int_equal(waits.unknown_start, 0);
		for (size_t i = 0; i < nr_truth; i++) {
			const struct trace_wait *w = &waits.list[i], *t = &truth[i];

			sum += t->to_ns - t->from_ns;
			woken += t->woken;
			throttled += t->throttled_ns > 0;
			assert_int_equal(w->from_ns, t->from_ns);
			assert_int_equal(w->to_ns, t->to_ns);
			assert_int_equal(w->pid, t->pid);
			assert_int_equal(w->cpu, t->cpu);
			assert_int_equal(w->woken, t->woken);
			assert_int_equal(w->throttled, t->throttled);
			assert_int_equal(w->throttled_ns, t->throttled_ns);
			assert_int_equal(w->waker, t->waker);
			assert_int_equal(w->waker_cpu, t->waker_cpu);
			assert_true(w->waking_ns <= w->from_ns);
			assert_int_equal(!!w->waking_ns, t->woken);
			if (t->waking_ns)
				assert_int_equal(w->waking_ns, t->waking_ns);
		}
		assert_int_equal(waits.sum_ns, sum);
		assert_true(woken > 100 && woken < nr_truth);
		assert_true(throttled > 20 && throttled < nr_truth / 4);
		free(waits.list);
	}
}

TEST(start_before_the_trace_is_counted)
{
	struct trace_reader readers[NR_CPUS];
	struct trace_waits waits;

	sim_begin(1, 64);
	on_cpu(0);
	trace_sees_switch(&idle, &sim[0].kernel, false);
	waits = find(readers);
	assert_int_equal(waits.nr, 0);
	assert_int_equal(waits.unknown_start, 1);
	free(waits.list);
}

static void woken_then_runs(u64 wait_ns)
{
	on_cpu(1);
	trace_sees_wakeup(&sim[0].kernel);
	now_ns += wait_ns - 1;
	on_cpu(0);
	trace_sees_switch(&idle, &sim[0].kernel, false);
	sim[0].kernel.__state = 1;
	on_cpu(0);
	trace_sees_switch(&sim[0].kernel, &idle, false);
	sim[0].kernel.__state = 0;
}

TEST(long_wait_freezes_half_a_ring_later)
{
	for (int only = 0; only < 2; only++) {
		struct trace_ring *ring;

		sim_begin(1, 64);
		ring = ring_of(0);
		setup.on_wait_ns = 5000;
		trace_lean = false;
		setup.on_wake_only = only;
		name_note(name_at(100), &sim[0].kernel);
		/* If a running task is woken and later sleeps, the sleep is no wait. */
		on_cpu(0);
		trace_sees_switch(&idle, &sim[0].kernel, false);
		trace_sees_wakeup(&sim[0].kernel);
		sim[0].kernel.__state = 1;
		on_cpu(0);
		trace_sees_switch(&sim[0].kernel, &idle, false);
		sim[0].kernel.__state = 0;
		now_ns += 100000;
		for (int i = 0; i < 100; i++)
			woken_then_runs(4999);
		assert_int_equal(event_ns, 0);
		assert_int_equal(ring->event_ns, 0);
		if (only) {
			/* The task was preempted, so its wait did not begin with a wake-up. */
			on_cpu(0);
			trace_sees_switch(&sim[0].kernel, &idle, false);
			now_ns += 9000;
			on_cpu(0);
			trace_sees_switch(&idle, &sim[0].kernel, false);
			assert_int_equal(ring->event_ns, 0);
			sim[0].kernel.__state = 1;
			trace_sees_switch(&sim[0].kernel, &idle, false);
			sim[0].kernel.__state = 0;
		}
		woken_then_runs(5000);
		assert_int_equal(ring->event_ns, START + now_ns - 1);
		assert_int_equal(ring->event_len_ns, 5000);
		assert_int_equal(ring->event_what,
				 TRACE_WHAT(100, 0, only ? TRACE_EVENT_WAKE : TRACE_EVENT_WAIT));
		assert_int_equal(event_ns, START + now_ns - 1);
		/* Half of the ring buffer contains events before the end of the recording. */
		for (int i = 0; i < 100 && !frozen; i++)
			woken_then_runs(10);
		assert_int_equal(frozen, START + now_ns);
		assert_int_equal(ring->head - ring->stop_head, 0);
		assert_true(trace_edge_ns(&ring->edges[(ring->head & setup.head_mask) / 16]) < event_ns);
		assert_int_equal(ring->writing + ring_of(1)->writing, 0);
	}
}

/* Waits in the cgroup and its descendants count. A long wait does not end the recording. */
TEST(waits_of_a_cgroup_are_counted)
{
	struct kernfs_node kn[3] = {{.id = 1}, {.id = 5}, {.id = 6}};
	struct cgroup groups[3] = {{.kn = &kn[0]}, {.kn = &kn[1]}, {.kn = &kn[2]}};
	struct css_set css[3];
	struct trace_ring *ring;

	for (int i = 0; i < 3; i++) {
		groups[i].self.cgroup = &groups[i];
		groups[i].self.parent = i ? &groups[i - 1].self : NULL;
		css[i].dfl_cgrp = &groups[i];
	}
	sim_begin(1, 64);
	ring = ring_of(0);
	setup.on_wait_ns = 5000;
	trace_lean = false;
	setup.on_group = 5;
	setup.group_v2 = true;
	name_note(name_at(100), &sim[0].kernel);
	for (int i = 0; i < 3; i++) {
		sim[0].kernel.cgroups = &css[i];
		woken_then_runs(4999);
		woken_then_runs(5000);
		woken_then_runs(6000);
		assert_int_equal(ring->group_waits, 3 * i);
		assert_int_equal(ring->group_long, 2 * i);
	}
	assert_int_equal(ring->event_ns, 0);
	assert_int_equal(event_ns, 0);
}

TEST(long_interrupt_is_noise)
{
	sim_begin(1, 64);
	setup.on_noise_ns = 1000;
	ring_of(0)->noise = 1;
	runs[0] = &sim[2];
	on_cpu(0);
	trace_irq_enter(NULL, 11);
	now_ns += 500;
	on_cpu(0);
	trace_ipi_enter(NULL, 1);
	now_ns += 300;
	on_cpu(0);
	trace_ipi_leave(NULL);
	assert_int_equal(event_ns, 0);
	now_ns += 196;
	on_cpu(0);
	trace_irq_leave(NULL);
	assert_int_equal(event_ns, 0);
	on_cpu(0);
	trace_softirq_enter(NULL, 3);
	now_ns += 999;
	on_cpu(0);
	trace_softirq_leave(NULL, 3);
	assert_int_equal(event_ns, START + now_ns);
	assert_int_equal(ring_of(0)->event_len_ns, 1000);
	assert_int_equal(ring_of(0)->event_what, TRACE_WHAT(102, 0, TRACE_EVENT_NOISE));
}

TEST_MAIN()
