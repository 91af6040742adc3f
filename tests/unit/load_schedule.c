/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The load programs on a core that does everything a core can do in random order: against a plain sum. */
#include "load_core.h"

#define NR_TASKS 4

static struct task_struct *const tasks[NR_TASKS] = {&idle, &task, &other, &ksoftirqd};

/* What the core does, as a kernel would know it. */
static struct {
	u64 now, random;
	u64 part_ns[LOAD_NR_PARTS], vec_ns[LOAD_NR_VECS], vec_count[LOAD_NR_VECS];
	enum {
		RUNS,
		HALTED,
		POLLS,
		WOKEN, /* an interrupt inside the halt is over: on the way out, or halted again */
	} window;
	bool handler, softirq;
	u32 vec;
} core;

static u64 below(u64 end)
{
	core.random = core.random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (core.random >> 33) % end;
}

/* Where the time goes now; @out: the next event of a woken core shows that it did not halt again. */
static enum load_part part_now(bool out)
{
	if (core.handler)
		return LOAD_PART_HARDIRQ;
	if (shim_current == &ksoftirqd)
		return LOAD_PART_KSOFTIRQD;
	if (core.softirq)
		return shim_current == &idle ? LOAD_PART_SOFTIRQ_ON_IDLE
					     : LOAD_PART_SOFTIRQ_ON_TASK;
	if (core.window == HALTED || (core.window == WOKEN && !out))
		return LOAD_PART_IDLE;
	if (core.window == POLLS)
		return LOAD_PART_POLL_IDLE;
	return shim_current == &idle ? LOAD_PART_IDLE_LOOP : LOAD_PART_TASK;
}

static void pass(u64 ns, bool out)
{
	core.part_ns[part_now(out)] += ns;
	if (core.softirq && !core.handler)
		core.vec_ns[core.vec] += ns;
	core.now += ns;
	at(core.now);
}

static void handler_begins(u64 ns)
{
	pass(ns, false);
	load_irq_enter(NULL);
	core.handler = true;
	if (below(4) == 0) {
		pass(below(50), false);
		load_ipi_enter(NULL);
		pass(below(50), false);
		load_ipi_leave(NULL);
	}
}

static void handler_ends(u64 ns)
{
	pass(ns, false);
	load_irq_leave(NULL);
	core.handler = false;
	/* A softirq that runs inside the window belongs to the interrupt that woke the core. */
	if (core.window == HALTED)
		core.window = WOKEN;
}

static void softirq_begins(u64 ns)
{
	pass(ns, true);
	core.vec = below(LOAD_NR_VECS);
	load_softirq_entry(NULL, core.vec);
	core.softirq = true;
}

static void softirq_ends(u64 ns)
{
	pass(ns, false);
	load_softirq_exit(NULL, core.vec);
	core.vec_count[core.vec]++;
	core.softirq = false;
}

static void idle_begins(u64 ns)
{
	bool poll = below(4) == 0;

	pass(ns, false);
	load_idle(NULL, !poll, 0);
	core.window = poll ? POLLS : HALTED;
}

static void idle_ends(u64 ns)
{
	pass(ns, true);
	load_idle(NULL, PWR_EVENT_EXIT, 0);
	core.window = RUNS;
}

static void switch_task(u64 ns)
{
	struct task_struct *next = tasks[below(NR_TASKS)];

	pass(ns, false);
	if (next != shim_current)
		to_task(core.now, next);
}

static void step(void)
{
	u64 ns = below(10) ? below(300) : below(30000);

	if (core.handler) {
		handler_ends(ns);
		if (!core.softirq && below(3) == 0)
			softirq_begins(below(20));
	} else if (core.softirq) {
		below(3) == 0 ? handler_begins(ns) : softirq_ends(ns);
	} else if (core.window != RUNS) {
		below(2) ? handler_begins(ns) : idle_ends(ns);
	} else {
		switch (below(shim_current == &idle ? 4 : 3)) {
		case 0:
			handler_begins(ns);
			break;
		case 1:
			softirq_begins(ns);
			break;
		case 2:
			switch_task(ns);
			break;
		default:
			idle_begins(ns);
		}
	}
}

static void check(void)
{
	u64 later = below(200);
	struct load_sample s = see(core.now + later);

	for (int i = 0; i < LOAD_NR_PARTS; i++)
		assert_int_equal(s.part_ns[i],
				 core.part_ns[i] +
					 (part_now(false) == (enum load_part)i ? later : 0));
	/* Idle and polling are what is not busy. */
	assert_int_equal(s.busy,
			 s.total - s.part_ns[LOAD_PART_IDLE] - s.part_ns[LOAD_PART_POLL_IDLE]);
	for (u32 i = 0; i < LOAD_NR_VECS; i++) {
		assert_int_equal(slot->vec_count[i], core.vec_count[i]);
		if (!core.softirq)
			assert_int_equal(slot->vec_ns[i], core.vec_ns[i]);
	}
	assert_int_equal(slot->odd_edges + slot->paused_lost, 0);
}

static void schedule(void **state)
{
	for (u64 seed = 1; seed <= 20; seed++) {
		reset(state);
		memset(&core, 0, sizeof(core));
		core.random = seed;
		/* The first edge tells what the core did before: a task. */
		shim_current = &task;
		pass(100, false);
		to_task(core.now, &idle);
		for (int i = 0; i < 5000; i++) {
			step();
			check();
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(schedule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
