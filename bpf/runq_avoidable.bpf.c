/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sums by cgroup the time that tasks wait while another core that they may use is idle. */
#include "runq_avoidable.bpf.h"
#include "map.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Constants that user space sets before it loads the programs. */
const volatile bool cgroup_v2;
const volatile bool switch_state_first;

struct runq_avoidable_task tasks[RUNQ_AVOIDABLE_TASKS];

MAP(avoidable_waits, HASH, 0, RUNQ_AVOIDABLE_NR, u64, struct runq_avoidable_waits);

static __always_inline struct runq_avoidable_task *avoid_entry(u32 pid)
{
	return &tasks[pid & (RUNQ_AVOIDABLE_TASKS - 1)];
}

static __always_inline struct rq___state *avoid_rq(struct task_struct *task)
{
	return (void *)BPF_CORE_READ(task, se.cfs_rq, rq);
}

/*
 * Returns true if the core of @task is online. The idle task runs on an offline core, as on an idle
 * core.
 */
static __always_inline bool avoid_online(struct task_struct *task)
{
	struct rq___state *rq = avoid_rq(task);

	return BPF_CORE_READ(rq, online);
}

static __noinline int avoid_count(struct task_struct *next, u32 cpu, u64 now)
{
	struct runq_avoidable_waits none = {}, more, *waits;
	u64 key = task_cgroup(next, cgroup_v2);

	avoid_ends(avoid_entry(next->pid), next, cpu, now, &more);
	if (!more.most_ns && !more.excluded_ns)
		return 0;
	waits = MAP_ENTRY(&avoidable_waits, &key, &none);
	if (!waits) {
		avoid_core(cpu)->lost++;
		avoid_core(cpu)->full++;
		return 0;
	}
	__sync_fetch_and_add(&waits->least_ns, more.least_ns);
	__sync_fetch_and_add(&waits->most_ns, more.most_ns);
	if (more.least_ns && more.cpu)
		waits->cpu = more.cpu;
	if (!more.excluded_ns)
		return 0;
	__sync_fetch_and_add(&waits->excluded_ns, more.excluded_ns);
	if (more.excluded_cpu)
		waits->excluded_cpu = more.excluded_cpu;
	return 0;
}

static __noinline int avoid_begin(struct task_struct *task, u64 now)
{
	avoid_begins(avoid_entry(task->pid), task, now);
	return 0;
}

static __always_inline void avoid_dispatch(struct task_struct *next, u32 cpu, u64 now)
{
	struct runq_avoidable_task *entry = avoid_entry(next->pid);

	if (avoid_core(cpu)->unwanted)
		;
	else if (entry->pid != (u32)next->pid || !entry->since_ns)
		avoid_core(cpu)->lost++;
	else
		avoid_count(next, cpu, now);
	if (entry->pid == (u32)next->pid)
		entry->since_ns = 0;
}

SEC("tp_btf/sched_switch")
int avoidable_switch(u64 *ctx)
{
	struct task_struct *prev, *next;
	u64 now = bpf_ktime_get_ns();
	u32 cpu = bpf_get_smp_processor_id();

	switch_tasks(ctx, switch_state_first, &prev, &next);
	if (!prev->pid)
		core_leave(cpu, now);
	/* ctx[0] (preempt) is 1 for a preempted task, even if the task was about to block */
	else if (ctx[0] || task_runnable(prev))
		avoid_begin(prev, now);
	else if (avoid_entry(prev->pid)->pid == (u32)prev->pid)
		avoid_entry(prev->pid)->since_ns = 0;
	if (next->pid)
		avoid_dispatch(next, cpu, now);
	/* A core that goes offline switches from a kernel thread to its idle task. */
	else if (!(prev->flags & PF_KTHREAD) || avoid_online(next))
		core_enter(cpu, now, false);
	return 0;
}

static __always_inline int avoid_woken(struct task_struct *task)
{
	struct runq_avoidable_task *entry = avoid_entry(task->pid);

	/* If a waiting task is woken again, the start of its wait does not change. */
	if (entry->pid != (u32)task->pid || !entry->since_ns)
		avoid_begin(task, bpf_ktime_get_ns());
	return 0;
}

/*
 * Finds the idle cores and the waiting tasks at the start of the measurement. avoidable_start()
 * runs once, after the program on sched_switch was attached. Each core has its own kernel threads,
 * so an iteration over all tasks reaches all run queues.
 */
SEC("iter/task")
int avoidable_start(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct rq___state *rq;

	if (!task)
		return 0;
	rq = avoid_rq(task);
	if (!BPF_CORE_READ(rq, curr, pid) && avoid_online(task))
		core_enter(task_cpu(task), bpf_ktime_get_ns(), true);
	/* A task that goes to sleep may stay in the run queue (delayed dequeue). */
	if (task->on_rq && !task->on_cpu && task_runnable(task))
		avoid_woken(task);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(avoidable_wakeup, struct task_struct *task)
{
	return avoid_woken(task);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(avoidable_wakeup_new, struct task_struct *task)
{
	/* an existing entry with the pid of a new task belongs to an earlier task */
	return avoid_begin(task, bpf_ktime_get_ns());
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(avoidable_migrate, struct task_struct *task, int to)
{
	struct runq_avoidable_task *entry = avoid_entry(task->pid);

	if (entry->pid == (u32)task->pid && entry->since_ns)
		avoid_moves(entry, task, to, bpf_ktime_get_ns());
	return 0;
}
