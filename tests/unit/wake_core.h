/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the BPF programs of `subtick wake`, or with BY_LOAD those of `subtick load`. */
#ifndef SUBTICK_TESTS_UNIT_WAKE_CORE_H
#define SUBTICK_TESTS_UNIT_WAKE_CORE_H

#include "test.h"

#include "bpf_shim.h"

#ifdef BY_LOAD
static long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags);
static u64 shim_filled(u32 mark);
#endif

/* Removes const, so that the tests can write the read-only data of the BPF programs. */
#define const
#ifdef BY_LOAD
#include "bpf/load.bpf.c"
#else
#include "bpf/wake.bpf.c"
#endif
#undef const

#include "stats/hist.h"
#include "stats/wake.h"

#define NR_CPUS	  1030
#define NR_STATES 3
#define HERE	  1 /* the measured core */
#define WORKER	  40

static struct wake_slot slot[NR_CPUS];
static struct wake_launch order[NR_CPUS];
static struct wake_hist hist[NR_CPUS * NR_STATES];

#ifdef BY_LOAD
static bool want_points, want_passive, one_state;
static u32 nr_states;
#define wake_idle     load_idle
#define wake_irq      load_irq_enter
#define wake_irq_exit load_irq_leave
#define wake_expire   load_expire_wake

static u64 shim_filled(u32 mark)
{
	switch (mark) {
	case CORE_FILLED_CPU_MASK:
		return 1;
	case LOAD_FILLED_STATES:
		return nr_states;
	case LOAD_FILLED_ONE_STATE:
		return one_state;
	default:
		return mark == LOAD_FILLED_WAKE && want_passive;
	}
}

static long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags)
{
	return -1;
}
#endif

#ifdef BY_LOAD
#define count_of(cpu) (&cores[cpu].wake)
#else
#define count_of(cpu) (&slot[cpu].counts)
#endif

static struct task_struct idle = {.comm = "swapper/1"};
static struct task_struct worker = {.pid = WORKER, .tgid = WORKER};
static struct hrtimer_clock_base monotonic, realtime = {.offset = 1000000000};

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	u32 at = *(const u32 *)key;

	if (map == &hists)
		return at < NR_CPUS * NR_STATES ? &hist[at] : NULL;
#ifndef BY_LOAD
	if (at < NR_CPUS)
		return map == &slots ? (void *)&slot[at] : &order[at];
#endif
	return NULL;
}

static inline int reset(void **state)
{
	memset(slot, 0, sizeof(slot));
#ifdef BY_LOAD
	cores[0] = cores[1] = (struct core_block){0};
#endif
	memset(order, 0, sizeof(order));
	memset(hist, 0, sizeof(hist));
	shim_fields = "";
	shim_cpu = HERE;
	shim_current = &idle;
	nr_states = NR_STATES;
	one_state = false;
	want_points = true;
	want_passive = false;
	switch_state_first = false;
	return 0;
}

static inline void go_idle(u64 ns, u32 idle_state)
{
	shim_now = ns;
	wake_idle(NULL, idle_state, HERE);
}

static inline void leave_idle(u64 ns)
{
	shim_now = ns;
	wake_idle(NULL, PWR_EVENT_EXIT, HERE);
}

static inline void irq(u64 ns, int nr)
{
	static struct irqaction alone;

	shim_now = ns;
	wake_irq(NULL, nr, &alone);
}

static inline void irq_ends(u64 ns)
{
	shim_now = ns;
#ifndef BY_LOAD
	/* For the source passive alone, subtick does not attach the BPF program wake_irq_exit. */
	if (!want_points)
		return;
#endif
	wake_irq_exit(NULL);
}

static inline void expire(u64 ns, u64 soft, u64 slack, struct hrtimer_clock_base *base)
{
	struct hrtimer timer = {._softexpires = soft + base->offset,
				.node.expires = soft + slack + base->offset,
				.base = base};

	shim_now = ns;
	wake_expire(NULL, &timer);
}

/* An interrupt runs the timer that was due at @due. */
static inline void timer_irq(u64 ns, u64 due)
{
	irq(ns, 27);
	expire(ns + 100, due, 0, &monotonic);
	irq_ends(ns + 200);
}

#ifndef BY_LOAD
static inline void to_task(u64 ns, struct task_struct *next)
{
	shim_now = ns;
	wake_switch((u64[3]){0, (unsigned long)shim_current, (unsigned long)next});
	shim_current = next;
}
#endif

#endif
