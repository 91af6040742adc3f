/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the BPF programs of `trace` and `load` on simulated cores, and reads the events. */
#ifndef SUBTICK_TESTS_UNIT_TRACE_CORE_H
#define SUBTICK_TESTS_UNIT_TRACE_CORE_H

#include "test.h"

#include "measure/trace/ring.h"

#include "load_schedule.h"

/* Renames shim_filled(), because the tests of `subtick load` also define shim_filled(). */
#define shim_filled trace_filled
static u64 trace_filled(u32 mark);

/* The BPF sources of `load` also define LICENSE. */
#define LICENSE trace_license
#pragma GCC diagnostic push
/* Allow shadowing, because the tests of `subtick load` define a variable named task. */
#pragma GCC diagnostic ignored "-Wshadow"
#define const
#include "bpf/trace.bpf.c"
#undef const
#pragma GCC diagnostic pop
#undef LICENSE
#undef shim_filled

#define NR_CPUS 5

/* False if the variants of the BPF programs for old kernels or --on wait are used. */
static bool trace_lean = true;

/* Returns the constants that lib/measure/trace/trace.c writes into the BPF instructions. */
static u64 trace_filled(u32 mark)
{
	switch (mark) {
	case TRACE_FILLED_RING_BYTES:
		return setup.ring_bytes;
	case TRACE_FILLED_RINGS_END:
		return (u64)(setup.nr_cpus - 1) * setup.ring_bytes + 1;
	case TRACE_FILLED_ANY:
		return !trace_lean;
	default:
		return setup.head_mask;
	}
}

static struct kernfs_node trace_kn = {.id = 77};
static struct cgroup trace_cgroup = {.self.cgroup = &trace_cgroup, .kn = &trace_kn};
static struct css_set trace_css = {.dfl_cgrp = &trace_cgroup};

/* Creates empty ring buffers, each for @nr_edges events. @nr_edges is a power of two. */
static inline void trace_reset(u32 nr_edges)
{
	setup = (struct trace_setup){
		.nr_cpus = NR_CPUS,
		.ring_bytes = (TRACE_RING_EDGES + nr_edges) * sizeof(struct trace_edge),
		.head_mask = (nr_edges - 1) * sizeof(struct trace_edge),
		.bytes_after = nr_edges / 2 * sizeof(struct trace_edge),
	};
	memset(tasks, 0, sizeof(tasks));
	memset(rings, 0, (size_t)(NR_CPUS + 1) * setup.ring_bytes);
	event_ns = frozen = tasks_lost = ask_address = 0;
	memset(wanted_cpus, 0, sizeof(wanted_cpus));
	shim_cpu = 0;
	shim_fields = " __state throttled ";
	for (int i = 0; i < NR_TASKS; i++)
		schedule_tasks[i]->cgroups = &trace_css;
}

static inline struct trace_reader reader_of(u32 cpu)
{
	return (struct trace_reader){
		.ring = ring_of(cpu), .mask = setup.head_mask / sizeof(struct trace_edge),
		.start_ns = START, .max_edges = 1 << 22};
}

static inline struct trace_reader read_all(u32 cpu, u64 to_ns)
{
	struct trace_reader reader = reader_of(cpu);

	assert_int_equal(trace_ring_take(&reader, true), 0);
	trace_ring_finish(&reader, to_ns);
	reader.core.poll_states = 1;
	return reader;
}

static inline void trace_sees(enum core_event event, bool begins, u32 arg)
{
	switch (event) {
	case EVENT_IRQ:
		begins ? trace_irq_enter(NULL, 11) : trace_irq_leave(NULL);
		break;
	case EVENT_IPI:
		begins ? trace_ipi_enter(NULL, 0xffff800000001234) : trace_ipi_leave(NULL);
		break;
	case EVENT_SOFTIRQ:
		begins ? trace_softirq_enter(NULL, arg) : trace_softirq_leave(NULL, arg);
		break;
	case EVENT_IDLE:
		trace_idle(NULL, begins ? arg : PWR_EVENT_EXIT);
		break;
	}
}

static inline void trace_sees_switch(struct task_struct *prev, struct task_struct *next, bool preempted)
{
	u64 args[3] = {preempted, (unsigned long)prev, (unsigned long)next};

	trace_switch(args);
}

static inline void trace_sees_wakeup(struct task_struct *woken)
{
	trace_wakeup(NULL, woken);
}

static inline void trace_sees_waking(struct task_struct *woken)
{
	trace_waking(NULL, woken);
}

/* Returns the number of events that were written to the ring buffer of @cpu since the start. */
static inline u64 edges_of(u32 cpu)
{
	return ring_of(cpu)->head / sizeof(struct trace_edge);
}

static inline bool is_softirqd(void *arg, u32 pid)
{
	return pid == (u32)ksoftirqd.pid;
}

#endif
