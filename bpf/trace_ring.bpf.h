/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Event rings of the cores, names of tasks, and the end of a recording (abi/trace.h). */
#ifndef SUBTICK_BPF_TRACE_RING_H
#define SUBTICK_BPF_TRACE_RING_H

#include "task.bpf.h"
#include "abi/load.h"
#include "abi/trace.h"

const volatile struct trace_setup setup;

/*
 * event_ns: CLOCK_MONOTONIC of the first --on event, or 0 before this event. frozen:
 * CLOCK_MONOTONIC of the end of the recording, or 0 before the end.
 */
__u64 event_ns SEC(".data");
__u64 frozen SEC(".data");
__u64 tasks_lost SEC(".data");
__u64 ask_address SEC(".data");
char asked_name[32] SEC(".data");
/* Bit mask of the selected CPUs; used if setup.some_cpus is 1. */
__u64 wanted_cpus[TRACE_MAX_CPUS / 64] SEC(".data");

/* The rings must be the last variable in .bss, because user space shrinks .bss. */
struct trace_task tasks[TRACE_NR_TASKS];
struct trace_edge rings[TRACE_MAX_EDGES];

static __always_inline bool cpu_wanted(u32 cpu)
{
	return wanted_cpus[cpu / 64 % (TRACE_MAX_CPUS / 64)] >> cpu % 64 & 1;
}

static __always_inline struct trace_ring *ring_from(u64 offset)
{
	struct trace_ring *ring = (struct trace_ring *)((char *)rings + offset);

	if (!ring)
		__builtin_unreachable();
	return ring;
}

/* Returns the ring of any CPU, or NULL if the CPU was added after the start of the recording. */
static __always_inline struct trace_ring *ring_of(u64 cpu)
{
	/*
	 * The verifier of Linux 5.10 loses bounds of 32-bit registers, so @cpu is a 64-bit value.
	 */
	asm volatile("" : "+r"(cpu));
	return cpu < setup.nr_cpus ? ring_from(cpu * setup.ring_bytes) : NULL;
}

/*
 * Returns the ring of the current CPU. If the CPU was added after the start of the recording,
 * ring_at() ends the BPF program, so subprograms must not call ring_at().
 */
static __always_inline struct trace_ring *ring_at(u64 cpu)
{
	FILLED_MUL(cpu, TRACE_FILLED_RING_BYTES);
	FILLED_BELOW(cpu, TRACE_FILLED_RINGS_END);
	return ring_from(cpu);
}

static __always_inline struct trace_task *name_at(u32 pid)
{
	return &tasks[pid % TRACE_NR_TASKS];
}

/* Records the name of a task. The idle tasks share pid 0 and have no entry. */
static __noinline int name_note(struct trace_task *entry, struct task_struct *task)
{
	struct task_struct___allowed *limits = (void *)task;

	if (!task->pid)
		return 0;
	if (entry->pid && TRACE_FIRST(entry->pid) != (u32)task->pid)
		__sync_fetch_and_add(&tasks_lost, 1);
	entry->pid = task->pid;
	entry->tgid = task->tgid;
	entry->cgroup = task->cgroups->dfl_cgrp->kn->id;
	entry->kthread = !!(task->flags & PF_KTHREAD);
	entry->queued = 0;
	entry->allowed = limits->cpus_mask.bits[0];
	entry->nr_allowed = limits->nr_cpus_allowed;
	bpf_probe_read_kernel(entry->comm, sizeof(entry->comm), task->comm);
	entry->check = trace_task_check(entry);
	return 0;
}

/*
 * Returns true if the ring accepts records. After the --on event, the first core that has added
 * setup.bytes_after bytes of records ends the recording on all cores.
 */
static __always_inline bool ring_open(struct trace_ring *ring, u64 now)
{
	if (frozen)
		return false;
	if (!ring->stop_head)
		ring->stop_head = ring->head + setup.bytes_after;
	if (ring->head < ring->stop_head)
		return true;
	frozen = now;
	return false;
}

static __always_inline void edge_put(struct trace_edge *edge, u64 now, u64 kind, u64 what)
{
	edge->stamp = now << 8 | kind;
	edge->what = what;
}

/*
 * Stores the first --on event of a core in the ring of the core. The first --on event of all cores
 * also sets the member `event` of all rings.
 */
static __noinline int event_seen(struct trace_ring *ring, u32 event, u32 pid, u64 now, u64 len_ns)
{
	if (ring->event_ns)
		return 0;
	ring->event_what = TRACE_WHAT(pid, 0, event);
	ring->event_len_ns = len_ns;
	ring->event_ns = now;
	if (event_ns)
		return 0;
	event_ns = now;
	for (u64 cpu = 0; cpu < TRACE_MAX_CPUS; cpu++) {
		ring = ring_of(cpu);
		if (!ring)
			break;
		ring->event = 1;
	}
	return 0;
}

static __always_inline void noise_ends(struct trace_ring *ring, u64 since, u64 now)
{
	if (since && now - since >= setup.on_noise_ns)
		event_seen(ring, TRACE_EVENT_NOISE, (u32)bpf_get_current_pid_tgid(), now, now - since);
}

/* Measures the duration of interrupts and softirqs for --on noise. */
static __noinline int noise_note(struct trace_ring *ring, u64 kind, u64 now)
{
	switch (kind) {
	case TRACE_IRQ_ENTER:
	case TRACE_IPI_ENTER:
	case TRACE_VECTOR_ENTER:
		if (!ring->irq_depth++)
			ring->irq_ns = now;
		break;
	case TRACE_IRQ_LEAVE:
		if (ring->irq_depth && !--ring->irq_depth)
			noise_ends(ring, ring->irq_ns, now);
		break;
	case TRACE_SOFTIRQ_ENTER:
		ring->softirq_ns = now;
		break;
	case TRACE_SOFTIRQ_LEAVE:
		noise_ends(ring, ring->softirq_ns, now);
		ring->softirq_ns = 0;
		break;
	}
	return 0;
}

/*
 * Adds the trace record of an interrupt that occurred while this core wrote another trace record.
 */
static __noinline u64 nested_add(struct trace_ring *ring, u64 kind, u64 what)
{
	u64 now = bpf_ktime_get_ns(), head = ring->nested_head;

	if (ring->writing > 1) {
		ring->nested_lost++;
		return TRACE_NEVER;
	}
	if (ring->event && !ring_open(ring, now))
		return TRACE_NEVER;
	ring->writing = 2;
	barrier();
	edge_put(&ring->nested[head % TRACE_NR_NESTED], now, kind, what);
	ring->nested_head = head + 1;
	barrier();
	ring->writing = 1;
	return now;
}

/* Adds a trace record outside of the fast path. Interrupts may be enabled. */
static __noinline u64 plain_add(struct trace_ring *ring, u64 kind, u64 what)
{
	u64 now, head;

	/*
	 * Only interrupts of this CPU read the flag `writing`, so a compiler barrier is sufficient.
	 */
	ring->writing = 1;
	barrier();
	now = bpf_ktime_get_ns();
	if (ring->event && !ring_open(ring, now)) {
		now = TRACE_NEVER;
		goto out;
	}
	head = ring->head;
	edge_put((void *)((char *)ring->edges + (head & setup.head_mask)), now, kind, what);
	barrier();
	ring->head = head + sizeof(struct trace_edge);
out:
	barrier();
	ring->writing = 0;
	return now;
}

/* Slow path of ring_add(). */
static __noinline u64 unusual_add(struct trace_ring *ring, u64 kind, u64 what)
{
	u64 now;

	if (ring->stopped)
		return TRACE_NEVER;
	if (ring->unwanted) {
		/*
		 * A wake-up on a CPU that is not selected is recorded if the woken task goes to a
		 * selected CPU.
		 */
		bool wakes = kind >= TRACE_WAKING && kind <= TRACE_MIGRATE;

		if ((!wakes && kind != TRACE_FREQUENCY) || !cpu_wanted(TRACE_THIRD(what)))
			return TRACE_NEVER;
		/*
		 * The ring of an unselected CPU has no records of task switches. The record of a
		 * wake-up must therefore contain the pid of the waker.
		 */
		if (wakes)
			what |= TRACE_WHAT(0, (u32)bpf_get_current_pid_tgid(), 0);
	}
	now = ring->writing ? nested_add(ring, kind, what) : plain_add(ring, kind, what);
	if (setup.on_noise_ns && ring->noise && now != TRACE_NEVER)
		noise_note(ring, kind, now);
	return now;
}

/*
 * Adds a trace record to the ring of this CPU. @interrupts is true if interrupts may be enabled.
 * @ret_now gets CLOCK_MONOTONIC, or TRACE_NEVER if nothing was recorded.
 */
static __always_inline int ring_add(struct trace_ring *ring, u64 kind, u64 what, bool interrupts,
				    u64 *ret_now)
{
	u64 stamp, head, at;
	u32 none = 0;

	if (ring->unusual) {
		*ret_now = unusual_add(ring, kind, what);
		return 0;
	}
	if (interrupts) {
		ring->writing = 1;
		barrier();
	}
	stamp = *ret_now = bpf_ktime_get_ns();
	at = head = ring->head;
	FILLED_AND(at, TRACE_FILLED_HEAD_MASK);
	ADD_POINTER(at, ring);
	/*
	 * If @what is the constant 0, the field is not written, because readers ignore `what` in
	 * such records.
	 */
	if (!__builtin_constant_p(what) || what)
		((struct trace_ring *)at)->edges[0].what = what;
	stamp <<= 8;
	if (kind)
		ADD_CONST(stamp, kind);
	((struct trace_ring *)at)->edges[0].stamp = stamp;
	barrier();
	ring->head = head + sizeof(struct trace_edge);
	if (interrupts) {
		barrier();
		/*
		 * The asm barrier makes clang use one register for the two zeros: `writing` and the
		 * result.
		 */
		asm volatile("" : "+r"(none));
		ring->writing = none;
	}
	return none;
}

/* Adds a trace record of this CPU on the slow path. Interrupts may be enabled. */
static __noinline u64 rare_add(u64 kind, u64 what)
{
	struct trace_ring *ring = ring_of(cpu_number());

	if (!ring)
		return TRACE_NEVER;
	return unusual_add(ring, kind, what);
}

/*
 * Records that CPU quota throttles a runnable task. Sets TRACE_THROTTLED in the pid of the task's entry,
 * so that put_switch() calls task_comes() at the next dispatch of the task.
 */
static __noinline int throttle_begins(struct task_struct *task)
{
	struct trace_task *entry = name_at(task->pid);
	u64 total;

	if (entry->pid != (u32)task->pid || !throttled_total(task, &total))
		return 0;
	entry->throttled_from = total + throttled_so_far(task);
	entry->throttled_cpu = task_cpu(task);
	entry->pid |= TRACE_THROTTLED;
	return 0;
}

/*
 * Handles the dispatch of a task whose pid differs from the pid in its entry, because the task is
 * new or was throttled.
 */
static __noinline int task_comes(struct trace_task *entry, struct task_struct *task)
{
	u64 total;

	if (entry->pid != ((u32)task->pid | TRACE_THROTTLED))
		return name_note(entry, task);
	entry->pid = task->pid;
	if (entry->throttled_cpu != task_cpu(task) || !throttled_total(task, &total))
		return 0;
	total -= entry->throttled_from;
	if ((s64)total <= 0)
		return 0;
	if (total > TRACE_THROTTLE_MAX)
		total = TRACE_THROTTLE_MAX;
	rare_add(TRACE_THROTTLE, TRACE_THROTTLE_WHAT((u32)task->pid, total));
	return 0;
}

/* Stores the start of a wait. A second wake-up during the wait does not change the start. */
static __always_inline void wait_begins(u64 what, u64 now)
{
	struct trace_task *entry = name_at(TRACE_FIRST(what));

	if (TRACE_FIRST(entry->pid) == TRACE_FIRST(what) && !entry->queued)
		entry->queued = now << 1 | 1;
}

/*
 * Records whether @next is in the cgroup of --on or in a descendant. group_note() must be called
 * before the program reads the clock.
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
 * Begins the wait of a preempted task and ends the wait of the next task. Deletes the start of the
 * wait of a task that blocks.
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
	if (setup.on_group || wait_ns < setup.on_wait_ns || (setup.on_wake_only && !(queued & 1)))
		return 0;
	return event_seen(ring, setup.on_wake_only ? TRACE_EVENT_WAKE : TRACE_EVENT_WAIT, entry->pid, now,
			  wait_ns);
}

#endif
