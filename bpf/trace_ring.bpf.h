/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The ring of a core, the names of the tasks, and the end of a recording; see abi/trace.h. */
#ifndef SUBTICK_BPF_TRACE_RING_H
#define SUBTICK_BPF_TRACE_RING_H

#include "task.bpf.h"
#include "abi/load.h"
#include "abi/trace.h"

#define TRACE_REASON_MASK ((1ULL << 48) - 1)

/* Set by user space before loading; with kernel type names, because the skeleton repeats them. */
/* In 5.18 only, sched_switch had prev_state before prev; BTF shows it, not the version. */
const volatile bool switch_state_first;
/* Edges from one ring to the next, and in each ring less one. */
const volatile __u32 ring_stride;
const volatile __u32 edge_mask;
const volatile __u32 nr_cpus;
/* What ends the recording; 0: not asked for, and then the verifier removes the code for it. */
const volatile __u64 on_wait_ns;
const volatile bool on_wake_only;
const volatile __u64 on_noise_ns;
/* How many edges a core may add after it. */
const volatile __u64 edges_after;
/* Some cores only. */
const volatile bool some_cpus;

/* Set when everything is attached: before that, some of the programs are missing. */
__u64 start_ns SEC(".data") = TRACE_NEVER;
/*
 * Edges from this time on, in ns since the start, need a second look: an event has happened. Edges
 * before the start come after every time, as they are below 0.
 */
__u64 alert_ns SEC(".data") = TRACE_NEVER;
/* Nothing is recorded any more: since when, ns since the start; 0: all is recorded. */
__u64 frozen SEC(".data");
__u64 tasks_lost SEC(".data");
__u64 ask_address SEC(".data");
char asked_name[32] SEC(".data");
/* Of some_cpus: a bit for each. */
__u64 wanted_cpus[TRACE_MAX_CPUS / 64] SEC(".data");

/* The only one in .bss, which user space shrinks: the tasks, then the rings. */
struct trace_edge area[TRACE_AREA_EDGES];

static __always_inline bool cpu_wanted(u32 cpu)
{
	return wanted_cpus[cpu / 64 % (TRACE_MAX_CPUS / 64)] >> cpu % 64 & 1;
}

static __always_inline struct trace_ring *ring_of(u64 cpu)
{
	/* 64 bits, or the verifier of 5.10 forgets the bound. */
	asm volatile("" : "+r"(cpu));
	if (cpu >= nr_cpus)
		return NULL;
	return (struct trace_ring *)&area[TRACE_TASK_EDGES + cpu * ring_stride];
}

static __always_inline struct trace_ring *ring_here(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return some_cpus && !cpu_wanted(cpu) ? NULL : ring_of(cpu);
}

/* Of some cores, also wake-ups by others of tasks that go there: they begin the waits. */
static __always_inline struct trace_ring *ring_of_wake(struct task_struct *task)
{
	u32 cpu = bpf_get_smp_processor_id();

	return some_cpus && !cpu_wanted(cpu) && !cpu_wanted(task_cpu(task)) ? NULL : ring_of(cpu);
}

static __always_inline struct trace_task *name_at(u32 pid)
{
	return (struct trace_task *)&area[(u64)(pid % TRACE_NR_TASKS) * 4];
}

/* Not inlined, as it is rare. The idle tasks share pid 0 and need no name. */
static __noinline int name_note(struct trace_task *entry, struct task_struct *task)
{
	if (!task->pid)
		return 0;
	if (entry->pid && entry->pid != (u32)task->pid)
		__sync_fetch_and_add(&tasks_lost, 1);
	entry->pid = task->pid;
	entry->tgid = task->tgid;
	entry->cgroup = task->cgroups->dfl_cgrp->kn->id;
	entry->kthread = !!(task->flags & PF_KTHREAD);
	entry->queued = 0;
	bpf_probe_read_kernel(entry->comm, sizeof(entry->comm), task->comm);
	entry->check = trace_task_check(entry);
	return 0;
}

/*
 * After an event: each core may add so many edges. The first that has done so freezes all, so that all
 * rings end at the same time and what led to the event is still there. False: the edge is not wanted.
 */
static __noinline bool ring_open(struct trace_ring *ring, u64 now)
{
	/* Before the start. */
	if ((s64)now < 0 || frozen)
		return false;
	if (!ring->stop_head)
		ring->stop_head = ring->head + edges_after;
	if (ring->head < ring->stop_head)
		return true;
	frozen = now;
	return false;
}

/* An interrupt came while this core wrote an edge. */
static __noinline u64 nested_add(struct trace_ring *ring, u64 kind, u64 what)
{
	u64 now = bpf_ktime_get_ns() - start_ns, head = ring->nested_head;
	struct trace_edge *edge = &ring->nested[head % TRACE_NR_NESTED];

	if (ring->writing > 1) {
		ring->nested_lost++;
		return TRACE_NEVER;
	}
	if (now >= alert_ns && !ring_open(ring, now))
		return TRACE_NEVER;
	ring->writing = 2;
	barrier();
	edge->stamp = now << 8 | kind;
	edge->what = what;
	ring->nested_head = head + 1;
	barrier();
	ring->writing = 1;
	return now;
}

/*
 * Returns the time since the start, or TRACE_NEVER for an edge that is not recorded. @interrupts: they
 * may be on.
 */
static __always_inline u64 ring_add(struct trace_ring *ring, u64 kind, u64 what, bool interrupts)
{
	struct trace_edge *edge;
	u64 now, head;

	if (ring->writing)
		return nested_add(ring, kind, what);
	if (interrupts) {
		/* Only interrupts of this CPU read it, so a compiler barrier is enough. */
		ring->writing = 1;
		barrier();
	}
	now = bpf_ktime_get_ns() - start_ns;
	if (now >= alert_ns && !ring_open(ring, now)) {
		now = TRACE_NEVER;
	} else {
		head = ring->head;
		edge = &ring->edges[head & edge_mask];
		edge->stamp = now << 8 | kind;
		edge->what = what;
		barrier();
		ring->head = head + 1;
	}
	if (interrupts) {
		barrier();
		ring->writing = 0;
	}
	return now;
}

/* Something happened that ends the recording; the first of a core counts. */
static __noinline int event_seen(struct trace_ring *ring, u32 event, u32 pid, u64 now, u64 len_ns)
{
	if (ring->event_ns)
		return 0;
	ring->event_what = TRACE_WHAT(pid, 0, event);
	ring->event_len_ns = len_ns;
	ring->event_ns = now;
	if (alert_ns == TRACE_NEVER)
		alert_ns = now;
	return 0;
}

/* A task that is woken while it waits goes on waiting. */
static __always_inline void wait_begins(struct task_struct *task, u64 now)
{
	struct trace_task *entry = name_at(task->pid);

	if (entry->pid == (u32)task->pid && !entry->queued)
		entry->queued = now << 1 | 1;
}

/* A wake-up of a running task counts for nothing, or its sleep would be a wait. */
static __always_inline void wait_requeue(struct task_struct *task, u64 queued)
{
	struct trace_task *entry = name_at(task->pid);

	if (task->pid && entry->pid == (u32)task->pid)
		entry->queued = queued;
}

static __always_inline void wait_over(struct trace_ring *ring, struct trace_task *entry, u64 now)
{
	u64 queued = entry->queued, wait_ns = now - (queued >> 1);

	entry->queued = 0;
	if (!queued || (s64)wait_ns < 0 || wait_ns < on_wait_ns)
		return;
	if (!on_wake_only)
		event_seen(ring, TRACE_EVENT_WAIT, entry->pid, now, wait_ns);
	else if (queued & 1)
		event_seen(ring, TRACE_EVENT_WAKE, entry->pid, now, wait_ns);
}

static __always_inline void noise_ends(struct trace_ring *ring, u64 since, u64 now)
{
	if (since && now - since >= on_noise_ns)
		event_seen(ring, TRACE_EVENT_NOISE, (u32)bpf_get_current_pid_tgid(), now,
			   now - since);
}

#endif
