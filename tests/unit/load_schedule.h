/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Simulates random events on a core, and adds up the true time in each context. */
#ifndef SUBTICK_TESTS_UNIT_LOAD_SCHEDULE_H
#define SUBTICK_TESTS_UNIT_LOAD_SCHEDULE_H

#include "load_core.h"
#include "tests/random.h"

enum core_event {
	EVENT_IRQ,
	EVENT_IPI,
	EVENT_SOFTIRQ,
	EVENT_IDLE,
};

/*
 * Functions that call the BPF programs under test, set by each test. @arg is the softirq vector or
 * the idle state.
 */
static void (*core_event)(enum core_event event, bool begins, u32 arg);
static void (*core_switch)(struct task_struct *next);

/* True if the idle exit event comes before the interrupt handler, as on arm64. */
static bool exit_first;

#define NR_TASKS 4

static struct task_struct *const schedule_tasks[NR_TASKS] = {&idle, &task, &other, &ksoftirqd};

/* State of the simulated core, and the times that the counters must have. */
static struct {
	u64 now;
	uint64_t random;
	u64 part_ns[LOAD_NR_PARTS], vec_ns[LOAD_NR_VECS], vec_count[LOAD_NR_VECS];
	enum {
		RUNS,
		HALTED,
		POLLS,
		/* An interrupt ended the halt. The core has neither left idle nor halted again. */
		WOKEN,
	} window;
	bool handler, softirq;
	u32 vec;
} core;

static inline u64 below(u64 end)
{
	return lcg64(&core.random) % end;
}

/*
 * Returns the load part of the current time. @out is true if the next event proves that the core
 * did not halt again after an interrupt.
 */
static inline enum load_part part_now(bool out)
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

static inline void pass(u64 ns, bool out)
{
	core.part_ns[part_now(out)] += ns;
	if (core.softirq && !core.handler)
		core.vec_ns[core.vec] += ns;
	core.now += ns;
	at(core.now);
}

static inline void handler_begins(u64 ns)
{
	pass(ns, false);
	core_event(EVENT_IRQ, true, 0);
	core.handler = true;
	if (below(4) == 0) {
		pass(below(50), false);
		core_event(EVENT_IPI, true, 0);
		pass(below(50), false);
		core_event(EVENT_IPI, false, 0);
	}
}

static inline void handler_ends(u64 ns)
{
	pass(ns, false);
	core_event(EVENT_IRQ, false, 0);
	core.handler = false;
	/* A softirq before the idle exit belongs to the interrupt that woke the core. */
	if (core.window == HALTED)
		core.window = WOKEN;
}

static inline void softirq_begins(u64 ns)
{
	pass(ns, true);
	core.vec = below(LOAD_NR_VECS);
	core_event(EVENT_SOFTIRQ, true, core.vec);
	core.softirq = true;
}

static inline void softirq_ends(u64 ns)
{
	pass(ns, false);
	core_event(EVENT_SOFTIRQ, false, core.vec);
	core.vec_count[core.vec]++;
	core.softirq = false;
}

static inline void idle_begins(u64 ns)
{
	bool poll = below(4) == 0;

	pass(ns, false);
	core_event(EVENT_IDLE, true, !poll);
	core.window = poll ? POLLS : HALTED;
}

static inline void idle_ends(u64 ns)
{
	pass(ns, true);
	core_event(EVENT_IDLE, false, 0);
	core.window = RUNS;
}

static inline void switch_task(u64 ns)
{
	struct task_struct *next = schedule_tasks[below(NR_TASKS)];

	pass(ns, false);
	if (next != shim_current)
		core_switch(next);
}

static inline void step(void)
{
	u64 ns = below(10) ? below(300) : below(30000);

	if (core.handler) {
		handler_ends(ns);
		if (!core.softirq && below(3) == 0)
			softirq_begins(below(20));
	} else if (core.softirq) {
		below(3) == 0 ? handler_begins(ns) : softirq_ends(ns);
	} else if (core.window != RUNS) {
		below(2) && !exit_first ? handler_begins(ns) : idle_ends(ns);
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

/* The first event is a switch from a task to idle, which shows the task that ran before. */
static inline void schedule_begin(void **state, u64 seed)
{
	reset(state);
	memset(&core, 0, sizeof(core));
	core.random = seed;
	shim_current = &task;
	pass(100, false);
	core_switch(&idle);
}

/* Calls the BPF programs of `subtick load` for an event. */
static inline void load_event(enum core_event event, bool begins, u32 arg)
{
	switch (event) {
	case EVENT_IRQ:
		begins ? load_irq_enter(NULL, 0, &one_handler) : load_irq_leave(NULL);
		break;
	case EVENT_IPI:
		/* IPI events occur inside handlers, and `load` has no program for them. */
		break;
	case EVENT_SOFTIRQ:
		begins ? load_softirq_entry(NULL, arg) : load_softirq_exit(NULL, arg);
		break;
	case EVENT_IDLE:
		load_idle(NULL, begins ? arg : PWR_EVENT_EXIT, 0);
		break;
	}
}

#endif
