/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Counts the time that interrupts, softirqs and kernel threads take from tasks, by source and
 * victim (abi/noise.h).
 */
#ifndef SUBTICK_BPF_LOAD_NOISE_H
#define SUBTICK_BPF_LOAD_NOISE_H

#include "load_slot.bpf.h"
#include "task.bpf.h"
#include "map.bpf.h"
#include "abi/noise.h"

MAPPED_ARRAY(noise, struct noise_cpu);

/*
 * Number of the measurement window << NOISE_WINDOW_SHIFT. User space increments the window number
 * at the end of each window.
 */
__u64 noise_window_seq SEC(".data");

/* True if victims are cgroups of the v1 controller cpu instead of the unified hierarchy. */
const volatile bool noise_v1;

/*
 * Returns true if the hash table entry @sum can be reused: the entry is free, or counted no event
 * in the current and the previous window.
 */
static __always_inline bool sum_unused(const struct noise_sum *sum)
{
	u64 last = sum->longest[0] > sum->longest[1] ? sum->longest[0] : sum->longest[1];

	return !sum->key ||
	       (last >> NOISE_WINDOW_SHIFT) + 1 < noise_window_seq >> NOISE_WINDOW_SHIFT;
}

/*
 * Adds an event with a duration of @ns to the counters of the table entry @sum. Returns true if the
 * event is the longest event of the table entry in this window.
 */
static __always_inline bool sum_add(struct noise_sum *sum, u64 window_seq, u64 ns)
{
	u64 stamp = window_seq | (ns < NOISE_LONGEST_MAX ? ns : NOISE_LONGEST_MAX);
	u64 *longest = &sum->longest[window_seq >> NOISE_WINDOW_SHIFT & 1];

	sum->count++;
	sum->ns += ns;
	if (stamp <= *longest)
		return false;
	*longest = stamp;
	return true;
}

static __always_inline void cell_add(struct noise_cell *cell, u64 ns)
{
	sum_add(&cell->sum, noise_window_seq, ns);
	cell->hist[hist_bucket(ns) >> NOISE_BUCKET_SHIFT & (NOISE_NR_BUCKETS - 1)]++;
}

/*
 * Finds the entry of @key and @id in a hash table of @mask + 1 entries of @size bytes. Visits
 * @probes entries. If no entry matches, returns an unused entry, or NULL if all visited entries are
 * in use. Does not compare ids if @id is the constant 0.
 */
static __always_inline struct noise_sum *sum_probe(char *table, u32 size, u32 mask, u32 probes, u64 key,
						   u64 id)
{
	struct noise_sum *unused = NULL;
	/*
	 * The hash is computed from the low bits of @key and @id. The lowest bits of an address are
	 * 0 by alignment, so the hash combines the lowest bits with bits 4 and above by XOR.
	 */
	u64 at = key + id;

	at ^= at >> 4;
	for (u32 i = 0; i < probes; i++) {
		struct noise_sum *sum = (struct noise_sum *)(table + ((at + i) & mask) * size);

		if (sum->key == key && ((__builtin_constant_p(id) && !id) || sum->id == id))
			return sum;
		if (!unused && sum_unused(sum))
			unused = sum;
	}
	return unused;
}

/*
 * Finds or adds the counters of a noise source. Copies the string at @name only into a new entry.
 */
static __always_inline struct noise_cell *cell_of(struct noise_cell *cells, u32 mask, u64 key,
						  u64 id, const char *name)
{
	struct noise_sum *sum = sum_probe((char *)cells, sizeof(*cells), mask, NOISE_PROBES, key, id);
	struct noise_cell *cell = (struct noise_cell *)sum;

	if (!sum || (sum->key == key && sum->id == id))
		return cell;
	bpf_probe_read_kernel_str(cell->name, sizeof(cell->name), name);
	sum->id = id;
	sum->key = key;
	return cell;
}

static __always_inline void cell_add_or_lose(struct noise_cpu *n, u32 class,
					     struct noise_cell *cell, u64 ns)
{
	if (cell) {
		cell_add(cell, ns);
	} else {
		n->of[class].lost++;
		n->of[class].lost_ns += ns;
	}
}

/* bpf_get_current_cgroup_id() supports only cgroup v2. */
static __noinline u64 current_cgroup_v1(void)
{
	u32 cpu = bpf_core_enum_value(enum cgroup_subsys_id___core, cpu_cgrp_id___core);
	struct cgroup_subsys_state *css, **subsys;

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf))
		return task_cgroup_id(bpf_get_current_task_btf(), false);
	/* Linux before 5.11 lacks the helper bpf_get_current_task_btf(). */
	subsys = (void *)&BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), cgroups)->subsys;
	if (bpf_probe_read_kernel(&css, sizeof(css), &subsys[cpu]))
		return 0;
	return BPF_CORE_READ(css, cgroup, kn, id);
}

/* Returns the id of the cgroup whose task an interrupt or softirq interrupts, or NOISE_ON_*. */
static __always_inline u64 victim_key(const struct noise_cpu *n, const struct load_slot *s)
{
	u32 ctx = base_ctx(s);

	if (is_idle(ctx) || ctx == LOAD_SOFTIRQ_IDLE)
		return NOISE_ON_IDLE;
	if (n->now.thread)
		return NOISE_ON_THREAD;
	return noise_v1 ? current_cgroup_v1() : bpf_get_current_cgroup_id();
}

static __noinline int victim_add(struct noise_cpu *n, u32 class, u64 key, u64 ns)
{
	u64 window_seq = noise_window_seq, odd = window_seq >> NOISE_WINDOW_SHIFT & 1;
	struct noise_victim *v;

	if (class >= NOISE_CLASSES)
		return 0;
	v = (struct noise_victim *)sum_probe((char *)n->of[class].victims, sizeof(*v), NOISE_NR_VICTIMS - 1,
					     NOISE_PROBES, key, 0);
	if (!v) {
		n->of[class].victims_lost++;
		return 0;
	}
	v->sum.key = key;
	if (!sum_add(&v->sum, window_seq, ns))
		return 0;
	if (class == NOISE_THREAD) {
		v->pid[odd] = n->now.pid;
		__builtin_memcpy(v->comm[odd], n->now.comm, sizeof(n->now.comm));
	} else {
		v->pid[odd] = bpf_get_current_pid_tgid();
		bpf_get_current_comm(v->comm[odd], sizeof(v->comm[odd]));
	}
	return 0;
}

/*
 * Counts the execution of a hardirq handler. @name is an enum load_line_kind or the address of a
 * kernel string (abi/load.h).
 */
static __always_inline int noise_line(const struct load_slot *s, u32 cpu, u64 name, u32 irq, u64 ns)
{
	struct noise_cpu *n = bpf_map_lookup_elem(&noise, &cpu);
	struct noise_cell *cell;

	if (!n)
		return 0;
	if (name < LOAD_LINE_KINDS)
		cell = &n->kinds[name];
	else
		cell = cell_of(n->lines, NOISE_NR_LINES - 1, name, irq, (const char *)name);
	cell_add_or_lose(n, NOISE_HARDIRQ, cell, ns);
	return victim_add(n, NOISE_HARDIRQ, victim_key(n, s), ns);
}

/*
 * Counts a softirq that ended or was preempted. Softirqs in ksoftirqd are counted as noise of the
 * thread ksoftirqd.
 */
static __always_inline int noise_vec(const struct load_slot *s, u32 cpu, u64 vec, u64 ns)
{
	struct noise_cpu *n;

	if (base_ctx(s) == LOAD_KSOFTIRQD || vec >= LOAD_NR_VECS)
		return 0;
	n = bpf_map_lookup_elem(&noise, &cpu);
	if (!n)
		return 0;
	cell_add(&n->vecs[vec], ns);
	return victim_add(n, NOISE_SOFTIRQ, victim_key(n, s), ns);
}

/* Finds or adds the entry of a workqueue function. Returns NULL if sum_probe() finds no entry. */
static __always_inline struct noise_work *work_of(struct noise_cpu *n, u64 function)
{
	struct noise_work *w = (struct noise_work *)sum_probe(
		(char *)n->works, sizeof(*w), NOISE_NR_WORKS - 1, NOISE_WORK_PROBES, function, 0);

	if (!w || w->run.key == function)
		return w;
	w->name[0] = 0;
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_snprintf))
		BPF_SNPRINTF(w->name, sizeof(w->name), "%ps", function);
	w->run.key = function;
	return w;
}

/*
 * Handles the end of a work item or a switch away from its worker thread. @clock is a time of
 * work_clock().
 */
static __noinline int work_stretch_end(struct noise_cpu *n, struct noise_executing *e, u64 clock)
{
	struct noise_work *w;
	s64 ns = clock - e->since_ns;

	if (!e->function)
		return 0;
	w = work_of(n, e->function);
	e->function = 0;
	if (w)
		sum_add(&w->run, noise_window_seq, ns > 0 ? ns : 0);
	return 0;
}

/*
 * Returns the function that a workqueue worker executes, or 0 if @task is not a workqueue worker.
 */
static __always_inline u64 worker_function(struct task_struct *task)
{
	struct kthread *kthread;
	struct worker *worker;

	if (!(task->flags & PF_WQ_WORKER))
		return 0;
	if (bpf_core_field_exists(((struct task_struct___worker *)task)->worker_private))
		kthread = BPF_CORE_READ((struct task_struct___worker *)task, worker_private);
	else
		kthread = BPF_CORE_READ((struct task_struct___child *)task, set_child_tid);
	worker = BPF_CORE_READ(kthread, data);
	return (u64)BPF_CORE_READ(worker, current_func);
}

static __always_inline bool is_thread(const struct task_struct *task)
{
	return task->pid && task->flags & PF_KTHREAD;
}

static __always_inline void thread_note(struct noise_cpu *n, struct task_struct *thread)
{
	n->now.thread = thread->pid;
	bpf_probe_read_kernel(n->now.thread_comm, sizeof(n->now.thread_comm), thread->comm);
}

static __always_inline void thread_leave(struct noise_cpu *n, const struct load_slot *s,
					 struct task_struct *prev)
{
	u64 ns = task_ns(s) - n->now.since_ns;

	cell_add_or_lose(n, NOISE_THREAD,
			 cell_of(n->threads, NOISE_NR_THREADS - 1, prev->pid, 0, prev->comm), ns);
	if (n->now.victim)
		victim_add(n, NOISE_THREAD, n->now.victim, ns);
	if (n->executing[0].function)
		work_stretch_end(n, &n->executing[0], task_ns(s));
}

/*
 * A preempted task counts as the victim of every kernel thread that runs until the task is
 * dispatched again.
 */
static __always_inline void thread_enter(struct noise_cpu *n, const struct load_slot *s,
					 struct task_struct *prev, struct task_struct *next)
{
	n->now.since_ns = n->executing[0].since_ns = task_ns(s);
	n->executing[0].function = worker_function(next);
	thread_note(n, next);
	if (is_thread(prev))
		return;
	n->now.victim = 0;
	if (!prev->pid || !task_runnable(prev))
		return;
	n->now.victim = task_cgroup_id(prev, !noise_v1);
	n->now.pid = prev->pid;
	bpf_probe_read_kernel(n->now.comm, sizeof(n->now.comm), prev->comm);
}

static __always_inline int noise_switch(const struct load_slot *s, struct task_struct *prev,
					struct task_struct *next)
{
	u32 cpu = task_cpu(next);
	struct noise_cpu *n;

	if (!is_thread(prev) && !is_thread(next))
		return 0;
	n = bpf_map_lookup_elem(&noise, &cpu);
	if (!n)
		return 0;
	if (is_thread(prev))
		thread_leave(n, s, prev);
	if (is_thread(next))
		thread_enter(n, s, prev, next);
	else
		n->now.thread = 0;
	return 0;
}

/* Records the kernel thread that runs on a core at the start of the measurement. */
static __always_inline void noise_seed(struct task_struct *task, u32 cpu)
{
	struct noise_cpu *n = bpf_map_lookup_elem(&noise, &cpu);

	if (n && is_thread(task) && !n->now.since_ns) {
		thread_note(n, task);
		n->executing[0].function = worker_function(task);
	}
}

#endif
