/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Counts the waits of tasks for a core that leaves an idle state, by cgroup and idle state. */
#include "task.bpf.h"
#include "map.bpf.h"
#include "abi/runq_idle.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Constants that user space sets before it loads the programs. */
const volatile bool cgroup_v2;
const volatile bool switch_state_first;

MAPPED_ARRAY(idle_cpus, struct runq_idle_cpu);

MAP(idle_waits, HASH, 0, RUNQ_IDLE_NR, struct runq_idle_key, struct runq_idle_waits);

MAP(idle_tasks, ARRAY, 0, RUNQ_IDLE_TASKS, u32, struct runq_idle_task);

SEC("tp_btf/cpu_idle")
int BPF_PROG(runq_idle_enter, u32 state, u32 event_cpu)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct runq_idle_cpu *here;

	if (state == PWR_EVENT_EXIT)
		return 0;
	here = bpf_map_lookup_elem(&idle_cpus, &cpu);
	if (here)
		here->state = state;
	return 0;
}

static __always_inline void count_wait(struct runq_idle_cpu *here, struct task_struct *next,
				       u64 wait_ns)
{
	struct runq_idle_key key = {.group = task_cgroup(next, cgroup_v2), .state = here->state};
	struct runq_idle_waits none = {}, *waits = MAP_ENTRY(&idle_waits, &key, &none);

	if (!waits) {
		here->full++;
		return;
	}
	__sync_fetch_and_add(&waits->count, 1);
	__sync_fetch_and_add(&waits->wait_ns, wait_ns);
}

static __always_inline struct runq_idle_task *task_at(u32 pid)
{
	u32 at = pid % RUNQ_IDLE_TASKS;

	return bpf_map_lookup_elem(&idle_tasks, &at);
}

static __always_inline int task_woken(struct task_struct *task)
{
	struct runq_idle_task *entry = task_at(task->pid);

	if (entry) {
		entry->pid = task->pid;
		entry->woken_ns = bpf_ktime_get_ns();
	}
	return 0;
}

/*
 * sched_waking occurs on the waker's core before the IPI is sent. sched_wakeup may occur later, on
 * the woken core.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(runq_idle_waking, struct task_struct *task)
{
	return task_woken(task);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(runq_idle_new, struct task_struct *task)
{
	return task_woken(task);
}

/*
 * A task that is dispatched directly after the idle task waited only until the core left its idle
 * state, so its wait is counted.
 */
SEC("tp_btf/sched_switch")
int runq_idle_leave(u64 *ctx)
{
	struct task_struct *prev, *next;
	struct runq_idle_task *entry;
	struct runq_idle_cpu *here;
	u64 woken, now;
	u32 cpu;

	switch_tasks(ctx, switch_state_first, &prev, &next);
	entry = task_at(next->pid);
	if (!entry)
		return 0;
	woken = entry->pid == (u32)next->pid ? entry->woken_ns : 0;
	entry->woken_ns = 0;
	/* a task without a recorded wake-up time waited after a preemption, not after a wake-up */
	if (prev->pid || !woken)
		return 0;
	now = bpf_ktime_get_ns();
	cpu = bpf_get_smp_processor_id();
	here = bpf_map_lookup_elem(&idle_cpus, &cpu);
	if (here && !here->unwanted && now > woken)
		count_wait(here, next, now - woken);
	return 0;
}
