/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Writes every context change of a core into the ring of that core, until something happens. */
#include "trace_ring.bpf.h"
#include "vectors.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define PWR_EVENT_EXIT ((u32)-1)

/* A task that was preempted on its way to sleep still runs: the event's first argument says so. */
static __always_inline u32 state_left(struct task_struct *prev, bool preempted)
{
	if (preempted)
		return 0;
	if (bpf_core_field_exists(((struct task_struct___new *)0)->__state))
		return ((struct task_struct___new *)prev)->__state;
	return ((struct task_struct___old *)prev)->state;
}

/* As it is in TRACE_WHAT(); quota takes the core only from a task that can run. */
static __always_inline u64 switch_state(struct task_struct *prev, bool preempted)
{
	u64 state = TRACE_WHAT(0, 0, state_left(prev, preempted));

	if (state || !task_throttled(prev))
		return state;
	hold_begins(prev);
	return TRACE_HELD;
}

SEC("tp_btf/sched_switch")
int trace_switch(u64 *ctx)
{
	const volatile struct trace_setup *s = setup_get();
	struct trace_ring *ring = ring_here(s);
	struct task_struct *prev, *next;
	u64 what, now;
	struct trace_task *task;
	u32 pid;

	if (!ring)
		return 0;
	switch_tasks(ctx, s->state_first, &prev, &next);
	pid = next->pid;
	what = TRACE_WHAT((u32)prev->pid, pid, 0) | switch_state(prev, (bool)ctx[0]);
	ring->current = TRACE_WHAT(1, pid, 0);
	task = name_at(pid);
	if (task->pid != pid)
		task_comes(ring, task, next);
	if (s->on_group)
		group_note(ring, next);
	now = ring_add(s, ring, TRACE_SWITCH, what, false);
	if (s->on_wait_ns && now != TRACE_NEVER)
		wait_switch(ring, what, now);
	return 0;
}

static __always_inline int wake_edge(struct task_struct *task, u32 kind)
{
	const volatile struct trace_setup *s = setup_get();
	struct trace_ring *ring = ring_of_wake(s, task);
	u64 what, now;

	if (!ring)
		return 0;
	/* All that the task tells before any call, or it would have to be kept across that. */
	what = TRACE_WHAT((u32)task->pid, 0, task_cpu(task));
	if (kind != TRACE_WAKING && task_throttled(task)) {
		hold_begins(task);
		what |= TRACE_HELD;
	}
	what |= current_word(ring);
	now = ring_add(s, ring, kind, what, true);
	if (kind != TRACE_WAKING && s->on_wait_ns && now != TRACE_NEVER)
		wait_begins(what, now);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(trace_waking, struct task_struct *task)
{
	return wake_edge(task, TRACE_WAKING);
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(trace_wakeup, struct task_struct *task)
{
	return wake_edge(task, TRACE_WAKEUP);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(trace_wakeup_new, struct task_struct *task)
{
	/* The pid may have been another's. */
	name_note(name_at(task->pid), task);
	return wake_edge(task, TRACE_WAKEUP_NEW);
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(trace_migrate, struct task_struct *task, int to)
{
	const volatile struct trace_setup *s = setup_get();
	struct trace_ring *ring = ring_here(s);

	if (ring)
		ring_add(s, ring, TRACE_MIGRATE,
			 TRACE_WHAT((u32)task->pid, 0, (u32)to) | current_word(ring), true);
	return 0;
}

/* A new name, by exec or by prctl: noted again when the task next gets a core. */
SEC("tp_btf/task_rename")
int BPF_PROG(trace_rename, struct task_struct *task)
{
	name_at(task->pid)->pid = 0;
	return 0;
}

/* Before 6.3 idle returns with interrupts on. */
SEC("tp_btf/cpu_idle")
int BPF_PROG(trace_idle, u32 state, u32 cpu)
{
	const volatile struct trace_setup *s = setup_get();
	struct trace_ring *ring = ring_here(s);

	if (!ring)
		return 0;
	if (state == PWR_EVENT_EXIT)
		ring_add(s, ring, TRACE_IDLE_LEAVE, 0, true);
	else
		ring_add(s, ring, TRACE_IDLE_ENTER, state, true);
	return 0;
}

/* 64 bits, which the kernel extends with zeroes: clang would do it once more. */
SEC("tp_btf/softirq_entry")
int BPF_PROG(trace_softirq_enter, u64 vec)
{
	const volatile struct trace_setup *s = setup_get();
	struct trace_ring *ring = ring_here(s);
	u64 now;

	if (!ring)
		return 0;
	now = ring_add(s, ring, TRACE_SOFTIRQ_ENTER, vec, true);
	if (s->on_noise_ns && now != TRACE_NEVER)
		ring->softirq_ns = now;
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(trace_softirq_leave, u64 vec)
{
	const volatile struct trace_setup *s = setup_get();
	struct trace_ring *ring = ring_here(s);
	u64 now;

	if (!ring)
		return 0;
	now = ring_add(s, ring, TRACE_SOFTIRQ_LEAVE, vec, true);
	if (s->on_noise_ns && now != TRACE_NEVER) {
		noise_ends(ring, ring->softirq_ns, now);
		ring->softirq_ns = 0;
	}
	return 0;
}

static __always_inline int handler_enter(u32 kind, u64 what)
{
	const volatile struct trace_setup *s = setup_get();
	struct trace_ring *ring = ring_here(s);
	u64 now;

	if (!ring)
		return 0;
	now = ring_add(s, ring, kind, what, false);
	if (s->on_noise_ns && now != TRACE_NEVER && !ring->irq_depth++)
		ring->irq_ns = now;
	return 0;
}

static __always_inline int handler_leave(void)
{
	const volatile struct trace_setup *s = setup_get();
	struct trace_ring *ring = ring_here(s);
	u64 now;

	if (!ring)
		return 0;
	now = ring_add(s, ring, TRACE_IRQ_LEAVE, 0, false);
	if (s->on_noise_ns && now != TRACE_NEVER && ring->irq_depth && !--ring->irq_depth)
		noise_ends(ring, ring->irq_ns, now);
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(trace_irq_enter, u64 irq)
{
	return handler_enter(TRACE_IRQ_ENTER, irq);
}

SEC("tp_btf/ipi_entry")
int BPF_PROG(trace_ipi_enter, u64 reason)
{
	return handler_enter(TRACE_IPI_ENTER, reason & TRACE_REASON_MASK);
}

#define TRACE_LEAVE(name, exit)                               \
	SEC("tp_btf/" exit) int trace_##name##_leave(void *ctx) \
	{                                                     \
		return handler_leave();                           \
	}

#define TRACE_VECTOR(name, entry, exit, kind)                  \
	SEC("tp_btf/" entry) int trace_##name##_enter(void *ctx) \
	{                                                      \
		return handler_enter(TRACE_VECTOR_ENTER, kind);    \
	}                                                      \
	TRACE_LEAVE(name, exit)

TRACE_LEAVE(irq, "irq_handler_exit")
TRACE_LEAVE(ipi, "ipi_exit")
X86_VECTORS(TRACE_VECTOR)

/* Of any CPU, also by another one. Loaded only if it was asked for. */
SEC("tp_btf/cpu_frequency")
int BPF_PROG(trace_frequency, u64 khz, u64 cpu)
{
	const volatile struct trace_setup *s = setup_get();
	struct trace_ring *ring = ring_of(s, bpf_get_smp_processor_id());

	if (ring && (!s->some_cpus || cpu_wanted(cpu)))
		ring_add(s, ring, TRACE_FREQUENCY, TRACE_WHAT(0, khz, cpu), true);
	return 0;
}

/* The tick is a timer as any other, but for what it calls. Loaded only if it was asked for. */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(trace_tick, struct hrtimer *timer)
{
	const volatile struct trace_setup *s = setup_get();
	struct trace_ring *ring = ring_here(s);

	if (ring && (u64)timer->function == s->tick_function)
		ring_add(s, ring, TRACE_TICK, 0, true);
	return 0;
}

/*
 * Walked once at the start: who has which pid, and who has which core. Once more for each reason of an IPI
 * in the trace: a program can read the kernel's string, user space cannot.
 */
SEC("iter/task")
int trace_walk(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct trace_ring *ring;

	if (!task)
		return 0;
	if (ask_address) {
		bpf_probe_read_kernel_str(asked_name, sizeof(asked_name), (const char *)ask_address);
		return 0;
	}
	name_note(name_at(task->pid), task);
	ring = task->on_cpu ? ring_of(&setup, task_cpu(task)) : NULL;
	if (ring)
		ring->seed = (u64)task->pid + 1;
	return 0;
}
