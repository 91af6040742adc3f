/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The ring of a core, the names of the tasks, and the end of a recording; see abi/trace.h. */
#ifndef SUBTICK_BPF_TRACE_RING_H
#define SUBTICK_BPF_TRACE_RING_H

#include "task.bpf.h"
#include "abi/load.h"
#include "abi/trace.h"

#define TRACE_REASON_MASK ((1ULL << 48) - 1)

const volatile struct trace_setup setup;
struct trace_times times SEC(".data") = {TRACE_NEVER, TRACE_NEVER};

/* Nothing is recorded any more: since when, ns since the start; 0: all is recorded. */
__u64 frozen SEC(".data");
__u64 tasks_lost SEC(".data");
__u64 ask_address SEC(".data");
char asked_name[32] SEC(".data");
/* Of some_cpus: a bit for each. */
__u64 wanted_cpus[TRACE_MAX_CPUS / 64] SEC(".data");

/* The only one in .bss, which user space shrinks: the tasks, then the rings. */
struct trace_edge area[TRACE_AREA_EDGES];

/* Its address in a register, or clang makes it anew, in up to four instructions, for each member. */
static __always_inline const volatile struct trace_setup *setup_get(void)
{
	const volatile struct trace_setup *s = &setup;

	asm volatile("" : "+r"(s));
	return s;
}

static __always_inline bool cpu_wanted(u32 cpu)
{
	return wanted_cpus[cpu / 64 % (TRACE_MAX_CPUS / 64)] >> cpu % 64 & 1;
}

static __always_inline struct trace_ring *ring_of(const volatile struct trace_setup *s, u64 cpu)
{
	char *rings = (char *)&area[TRACE_TASK_EDGES];
	struct trace_ring *ring;

	/* 64 bits, or the verifier of 5.10 forgets the bound. */
	asm volatile("" : "+r"(cpu));
	if (cpu >= s->nr_cpus)
		return NULL;
	/* Or clang adds the offset of the rings to each address, as it is too large for an instruction. */
	asm volatile("" : "+r"(rings));
	ring = (struct trace_ring *)(rings + cpu * s->ring_bytes);
	if (!ring)
		__builtin_unreachable();
	return ring;
}

static __always_inline struct trace_ring *ring_here(const volatile struct trace_setup *s)
{
	u32 cpu = bpf_get_smp_processor_id();

	return s->some_cpus && !cpu_wanted(cpu) ? NULL : ring_of(s, cpu);
}

/* Of some cores, also wake-ups by others of tasks that go there: they begin the waits. */
static __always_inline struct trace_ring *ring_of_wake(const volatile struct trace_setup *s,
						       struct task_struct *task)
{
	u32 cpu = bpf_get_smp_processor_id();

	return s->some_cpus && !cpu_wanted(cpu) && !cpu_wanted(task_cpu(task)) ? NULL : ring_of(s, cpu);
}

/*
 * The pid of the current task where TRACE_WHAT() has its second word; without the helper, unless this
 * core has not switched yet or its switches are not wanted.
 */
static __always_inline u64 current_word(const struct trace_ring *ring)
{
	u64 known = ring->current;

	return known ? known - 1 : TRACE_WHAT(0, (u32)bpf_get_current_pid_tgid(), 0);
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
	if (entry->pid && TRACE_FIRST(entry->pid) != (u32)task->pid)
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
 * rings end at the same time and what led to the event is still there. TRACE_NEVER: the edge is not
 * wanted; else @now, which the caller then need not keep in a register that it would have to save.
 */
static __noinline u64 ring_open(struct trace_ring *ring, u64 now)
{
	/* Before the start. */
	if ((s64)now < 0 || frozen)
		return TRACE_NEVER;
	if (!ring->stop_head)
		ring->stop_head = ring->head + setup.edges_after;
	if (ring->head < ring->stop_head)
		return now;
	frozen = now;
	return TRACE_NEVER;
}

/* An interrupt came while this core wrote an edge. */
static __noinline u64 nested_add(struct trace_ring *ring, u64 kind, u64 what)
{
	u64 now = bpf_ktime_get_ns() - times.start_ns, head = ring->nested_head;
	struct trace_edge *edge = &ring->nested[head % TRACE_NR_NESTED];

	if (ring->writing > 1) {
		ring->nested_lost++;
		return TRACE_NEVER;
	}
	if (now >= times.alert_ns && ring_open(ring, now) == TRACE_NEVER)
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
static __always_inline u64 ring_add(const volatile struct trace_setup *s, struct trace_ring *ring,
				    u64 kind, u64 what, bool interrupts)
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
	now = bpf_ktime_get_ns() - times.start_ns;
	if (now >= times.alert_ns) {
		now = ring_open(ring, now);
		if (now == TRACE_NEVER)
			goto out;
	}
	head = ring->head;
	edge = &ring->edges[head & s->edge_mask];
	edge->stamp = now << 8 | kind;
	edge->what = what;
	barrier();
	ring->head = head + 1;
out:
	if (interrupts) {
		barrier();
		ring->writing = 0;
	}
	return now;
}

/*
 * Quota keeps a task that can run from the core. Its entry is marked, so that the switch to it need not
 * look for more than the wrong pid. Not inlined, as it is rare.
 */
static __noinline int hold_begins(struct task_struct *task)
{
	struct trace_task *entry = name_at(task->pid);
	u64 total;

	if (entry->pid != (u32)task->pid || !held_clock(task, &total))
		return 0;
	entry->held_from = total + held_so_far(task);
	entry->held_cpu = task_cpu(task);
	entry->pid |= TRACE_HELD;
	return 0;
}

/*
 * A task gets the core whose entry does not have its pid: it has no name yet, or quota kept it. How long
 * is in the kernel's total, unless it was moved to another core, whose total is another.
 */
static __noinline int task_comes(struct trace_ring *ring, struct trace_task *entry,
				 struct task_struct *task)
{
	u64 total;

	if (entry->pid != ((u32)task->pid | TRACE_HELD))
		return name_note(entry, task);
	entry->pid = task->pid;
	if (entry->held_cpu != task_cpu(task) || !held_clock(task, &total))
		return 0;
	total -= entry->held_from;
	if ((s64)total <= 0)
		return 0;
	if (total > TRACE_HOLD_MAX)
		total = TRACE_HOLD_MAX;
	ring_add(&setup, ring, TRACE_HOLD, TRACE_HOLD_WHAT((u32)task->pid, total), false);
	return 0;
}

/* Something happened that ends the recording; the first of a core counts. */
static __noinline int event_seen(struct trace_ring *ring, u32 event, u32 pid, u64 now, u64 len_ns)
{
	if (ring->event_ns)
		return 0;
	ring->event_what = TRACE_WHAT(pid, 0, event);
	ring->event_len_ns = len_ns;
	ring->event_ns = now;
	if (times.alert_ns == TRACE_NEVER)
		times.alert_ns = now;
	return 0;
}

/* A task that is woken while it waits goes on waiting. */
static __always_inline void wait_begins(u64 what, u64 now)
{
	struct trace_task *entry = name_at(TRACE_FIRST(what));

	if (TRACE_FIRST(entry->pid) == TRACE_FIRST(what) && !entry->queued)
		entry->queued = now << 1 | 1;
}

/*
 * Notes whether the task that gets the core is in the cgroup or below it, before the clock is read, so
 * that the switch need not keep the task until its wait is known.
 */
static __noinline int group_note(struct trace_ring *ring, struct task_struct *next)
{
	struct cgroup_subsys_state *css = task_css(next, setup.group_v2);

	ring->group_next = 0;
	for (int i = 0; css && i < TRACE_DEPTH; i++) {
		if (BPF_CORE_READ(css, cgroup, kn, id) == setup.on_group) {
			ring->group_next = 1;
			break;
		}
		css = BPF_CORE_READ(css, parent);
	}
	return 0;
}

/*
 * Who lost the core while it could run begins to wait; a wake-up of a running task counts for nothing,
 * or its sleep would be a wait. Then the wait of who gets the core is over. Not inlined, as most
 * recordings do without.
 */
static __noinline int wait_switch(struct trace_ring *ring, u64 what, u64 now)
{
	struct trace_task *entry = name_at(TRACE_FIRST(what));
	u64 queued, wait_ns;

	if (TRACE_FIRST(what) && TRACE_FIRST(entry->pid) == TRACE_FIRST(what))
		entry->queued = TRACE_THIRD(what) ? 0 : now << 1;
	entry = name_at(TRACE_SECOND(what));
	queued = entry->queued;
	entry->queued = 0;
	wait_ns = now - (queued >> 1);
	if (!queued || (s64)wait_ns < 0)
		return 0;
	if (setup.on_group && ring->group_next) {
		ring->group_waits++;
		barrier();
		ring->group_long += wait_ns >= setup.on_wait_ns;
	}
	if (setup.on_group || wait_ns < setup.on_wait_ns)
		return 0;
	if (!setup.on_wake_only)
		event_seen(ring, TRACE_EVENT_WAIT, entry->pid, now, wait_ns);
	else if (queued & 1)
		event_seen(ring, TRACE_EVENT_WAKE, entry->pid, now, wait_ns);
	return 0;
}

static __always_inline void noise_ends(struct trace_ring *ring, u64 since, u64 now)
{
	if (since && now - since >= setup.on_noise_ns)
		event_seen(ring, TRACE_EVENT_NOISE, TRACE_SECOND(current_word(ring)), now,
			   now - since);
}

#endif
