/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sums the task time of a core by task, for --tasks. */
#ifndef SUBTICK_BPF_LOAD_TASKS_H
#define SUBTICK_BPF_LOAD_TASKS_H

#include "load_noise.bpf.h"

/* Two maps exist, so that user space can empty one map while the programs write the other map. */
MAP(tasks_even, HASH, 0, 1, struct load_task_key, struct load_task_sum);
MAP(tasks_odd, HASH, 0, 1, struct load_task_key, struct load_task_sum);

MAPPED_ARRAY(tasks_now, struct load_task_now);

/*
 * Number of the measurement window. The lowest bit of the window number selects tasks_even or
 * tasks_odd.
 */
__u64 task_window_seq SEC(".data");

static __always_inline u64 task_ids(const struct task_struct *task)
{
	return (u64)(u32)task->tgid << 32 | (u32)task->pid;
}

static __noinline int task_new(void *map, struct load_task_key *key, struct task_struct *task, u64 ns)
{
	struct load_task_sum sum = {.ns = ns, .count = 1, .tgid = task->tgid,
				    .sleeps = !task_runnable(task)};
	const struct task_struct *parent = task->real_parent;

	if (parent)
		sum.parent = parent->tgid;
	if (FILLED(LOAD_FILLED_NOISE))
		sum.cgroup = task_cgroup_id(task, !noise_v1);
	bpf_probe_read_kernel(sum.comm, sizeof(sum.comm), task->comm);
	return bpf_map_update_elem(map, key, &sum, BPF_NOEXIST);
}

/* Adds run time of a task to @map. Returns 0, or an error if @map is full. */
static __always_inline long task_add(void *map, u32 cpu, struct task_struct *task, u64 ns)
{
	struct load_task_key key = {.pid = task->pid, .cpu = cpu};
	struct load_task_sum *sum = bpf_map_lookup_elem(map, &key);

	if (!sum)
		return task_new(map, &key, task, ns);
	/*
	 * this addition needs no atomic instruction: the map key contains the CPU number, and
	 * sched_switch does not nest
	 */
	sum->ns += ns;
	sum->count++;
	sum->sleeps += !task_runnable(task);
	return 0;
}

/* Records the task that runs on a core at the start of the measurement. */
static __always_inline void task_seed(struct task_struct *task, u32 cpu)
{
	struct load_task_now *cpu_now = bpf_map_lookup_elem(&tasks_now, &cpu);

	if (!cpu_now || cpu_now->ids || cpu_now->since_ns)
		return;
	bpf_probe_read_kernel(cpu_now->comm, sizeof(cpu_now->comm), task->comm);
	cpu_now->ids = task_ids(task);
}

/* Adds the interval that has just ended to the task time of @prev. */
static __always_inline int task_switch(struct load_slot *s, struct task_struct *prev,
				       struct task_struct *next)
{
	u32 cpu = task_cpu(next);
	struct load_task_now *cpu_now = bpf_map_lookup_elem(&tasks_now, &cpu);
	u64 ns = task_ns(s), ran_ns;

	if (!cpu_now)
		return 0;
	ran_ns = ns - cpu_now->since_ns;
	/* The run time of idle tasks is not counted. */
	if (prev->pid && (task_window_seq & 1 ? task_add(&tasks_odd, cpu, prev, ran_ns)
					      : task_add(&tasks_even, cpu, prev, ran_ns)))
		cpu_now->lost_ns += ran_ns;
	cpu_now->since_ns = ns;
	cpu_now->ids = task_ids(next);
	bpf_probe_read_kernel(cpu_now->comm, sizeof(cpu_now->comm), next->comm);
	return 0;
}

#endif
