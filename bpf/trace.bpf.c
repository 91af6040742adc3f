/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Writes every context change of a core into the core's ring, until the event that --on selects. */
#include "trace_ring.bpf.h"
#include "vectors.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define TASK_WAKING    0x200

/*
 * Programs on switches and wake-ups have two variants. @any = true runs on every kernel and can
 * search for long waits. @any = false needs the struct fields of Linux 5.16 and saves the tests
 * whether these fields exist.
 */
static __always_inline u32 task_state(struct task_struct *task, bool any)
{
	if (!any || bpf_core_field_exists(((struct task_struct___new *)0)->__state))
		return ((struct task_struct___new *)task)->__state;
	return ((struct task_struct___old *)task)->state;
}

static __always_inline u32 cpu_of(struct task_struct *task, bool any)
{
	return any ? task_cpu(task) : task->thread_info.cpu;
}

/*
 * Returns the depth of the task's group, which is 0 for the root group. CPU quota throttles only
 * tasks outside of the root group.
 */
static __always_inline u32 in_group(struct task_struct *task, bool any)
{
	return !any || bpf_core_field_exists(((struct sched_entity *)0)->depth) ? task->se.depth : 0;
}

/*
 * Returns the state of the previous task for TRACE_WHAT(). A task that was preempted before it
 * could block is runnable.
 */
static __always_inline u64 switch_state(struct task_struct *prev, bool preempted, bool any)
{
	u64 state = preempted ? 0 : TRACE_WHAT(0, 0, task_state(prev, any));

	if (state || !task_throttled(prev))
		return state;
	throttle_begins(prev);
	return TRACE_THROTTLED;
}

/*
 * Reads @ctx, then computes `what`, then finds `ring`, so that few registers are in use across
 * calls.
 */
static __always_inline int put_switch(u64 *ctx, bool any)
{
	bool state_first = any && setup.state_first;
	struct task_struct *next = switch_next(ctx, state_first), *prev;
	u32 pid = next->pid;
	struct trace_task *entry = name_at(pid);
	u64 what = TRACE_WHAT(0, pid, 0), now;
	struct trace_ring *ring;

	if (entry->pid != pid)
		task_comes(entry, next);
	prev = switch_prev(ctx, state_first);
	what |= (u32)prev->pid;
	/* Without the barrier clang keeps both pids in registers until the task state is known. */
	asm volatile("" : "+r"(what));
	what |= switch_state(prev, (bool)ctx[0], any);
	ring = ring_at(cpu_number());
	if (!ring)
		return 0;
	if (any && setup.on_group)
		group_note(ring, switch_next(ctx, state_first));
	ring_add(ring, TRACE_SWITCH, what, false, &now);
	if (any && setup.on_wait_ns && now != TRACE_NEVER)
		wait_switch(ring, what, now);
	return 0;
}

SEC("tp_btf/sched_switch")
int trace_switch(u64 *ctx)
{
	return FILLED(TRACE_FILLED_ANY) ? put_switch(ctx, true) : put_switch(ctx, false);
}

/*
 * Records nothing if the task last ran on this core, because trace_wakeup() or trace_migrate()
 * records the wake-up.
 */
static __always_inline int put_waking(struct task_struct *task, bool any)
{
	u64 cpu = cpu_number();
	u32 last = cpu_of(task, any);
	struct trace_ring *ring;
	u64 now;

	if (last == cpu)
		return 0;
	ring = ring_at(cpu);
	if (!ring)
		return 0;
	return ring_add(ring, TRACE_WAKING, TRACE_WHAT((u32)task->pid, 0, last), false, &now);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(trace_waking, struct task_struct *task)
{
	return FILLED(TRACE_FILLED_ANY) ? put_waking(task, true) : put_waking(task, false);
}

/*
 * Reads the fields of the task before any function call, to save registers. Interrupts are off at
 * wake-up events, unless a task wakes itself.
 */
static __always_inline int put_wakeup(struct task_struct *task, u32 kind, bool any)
{
	u64 what = TRACE_WHAT((u32)task->pid, 0, cpu_of(task, any)), now;
	struct trace_ring *ring;

	if (task->on_cpu | in_group(task, any)) {
		if (task->on_cpu) {
			rare_add(kind, what);
			return 0;
		}
		if (task_throttled(task)) {
			throttle_begins(task);
			what |= TRACE_THROTTLED;
		}
	}
	ring = ring_at(cpu_number());
	if (!ring)
		return 0;
	ring_add(ring, kind, what, false, &now);
	if (any && setup.on_wait_ns && now != TRACE_NEVER)
		wait_begins(what, now);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(trace_wakeup, struct task_struct *task)
{
	return FILLED(TRACE_FILLED_ANY) ? put_wakeup(task, TRACE_WAKEUP, true)
					: put_wakeup(task, TRACE_WAKEUP, false);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(trace_wakeup_new, struct task_struct *task)
{
	/* the table entry of the new task may belong to an earlier task with the same pid */
	name_note(name_at(task->pid), task);
	return put_wakeup(task, TRACE_WAKEUP_NEW, true);
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(trace_migrate, struct task_struct *task, int to)
{
	u64 what = TRACE_WHAT((u32)task->pid, 0, (u32)to), cpu = cpu_number(), now;
	struct trace_ring *ring;

	/* If a woken task last ran on this core, put_waking() has not recorded the wake-up. */
	if (task_state(task, true) == TASK_WAKING && task_cpu(task) == cpu)
		what |= TRACE_WAKES;
	ring = ring_at(cpu);
	if (!ring)
		return 0;
	return ring_add(ring, TRACE_MIGRATE, what, true, &now);
}

/*
 * exec or prctl changed the name of a task. The cleared pid makes put_switch() read the new name at
 * the next dispatch of the task.
 */
SEC("tp_btf/task_rename")
int BPF_PROG(trace_rename, struct task_struct *task)
{
	name_at(task->pid)->pid = 0;
	return 0;
}

static __always_inline int put_edge(u64 kind, u64 what, bool interrupts)
{
	struct trace_ring *ring = ring_at(cpu_number());
	u64 now;

	return ring ? ring_add(ring, kind, what, interrupts, &now) : 0;
}

/* Before Linux 6.3 interrupts may be enabled at the idle exit event. */
SEC("tp_btf/cpu_idle")
int BPF_PROG(trace_idle, u64 state)
{
	return (u32)state == PWR_EVENT_EXIT ? put_edge(TRACE_IDLE_LEAVE, 0, true) :
					      put_edge(TRACE_IDLE_ENTER, state, false);
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(trace_softirq_enter, u64 vec)
{
	return put_edge(TRACE_SOFTIRQ_ENTER, vec, true);
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(trace_softirq_leave, u64 vec)
{
	return put_edge(TRACE_SOFTIRQ_LEAVE, vec, true);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(trace_irq_enter, u64 irq)
{
	return put_edge(TRACE_IRQ_ENTER, irq, false);
}

SEC("tp_btf/ipi_entry")
int BPF_PROG(trace_ipi_enter, u64 reason)
{
	return put_edge(TRACE_IPI_ENTER, reason, false);
}

#define TRACE_LEAVE(name, exit)                               \
	SEC("tp_btf/" exit) int trace_##name##_leave(void *ctx) \
	{                                                     \
		return put_edge(TRACE_IRQ_LEAVE, 0, false);      \
	}

#define TRACE_VECTOR(name, entry, exit, kind)                  \
	SEC("tp_btf/" entry) int trace_##name##_enter(void *ctx) \
	{                                                      \
		return put_edge(TRACE_VECTOR_ENTER, kind, false); \
	}                                                      \
	TRACE_LEAVE(name, exit)

TRACE_LEAVE(irq, "irq_handler_exit")
TRACE_LEAVE(ipi, "ipi_exit")
X86_VECTORS(TRACE_VECTOR)

/* @cpu may differ from the current CPU. User space loads trace_frequency only on request. */
SEC("tp_btf/cpu_frequency")
int BPF_PROG(trace_frequency, u64 khz, u64 cpu)
{
	if (setup.some_cpus && !cpu_wanted(cpu))
		return 0;
	return put_edge(TRACE_FREQUENCY, TRACE_WHAT(0, khz, cpu), true);
}

/*
 * The scheduler tick is the timer whose function is setup.tick_function. User space loads
 * trace_tick only on request.
 */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(trace_tick, struct hrtimer *timer)
{
	return (u64)timer->function == setup.tick_function ? put_edge(TRACE_TICK, 0, true) : 0;
}

/*
 * At the start of a recording, reads the names of all tasks and finds the running tasks. If
 * ask_address is set, trace_walk() only copies the kernel string at ask_address to asked_name.
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
	ring = task->on_cpu ? ring_of(task_cpu(task)) : NULL;
	if (ring)
		ring->seed = (u64)task->pid + 1;
	return 0;
}
