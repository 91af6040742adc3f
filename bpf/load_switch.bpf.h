/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Task switches for the commands load and noise, and for programs of runq that also measure load.
 */
#ifndef SUBTICK_BPF_LOAD_SWITCH_H
#define SUBTICK_BPF_LOAD_SWITCH_H

#include "load_hirq.bpf.h"
#include "load_noise.bpf.h"
#include "load_tasks.bpf.h"

/*
 * Saves the vector of a preempted softirq together with the pid of its task, until the task runs
 * again. Softirqs are preempted only under PREEMPT_RT.
 */
static __always_inline void softirq_pause(struct load_slot *s, u32 pid)
{
	u32 vec = s->vec;

	s->vec = 0;
	for (int i = 0; i < LOAD_NR_PAUSED; i++) {
		if (s->paused[i].pid)
			continue;
		s->paused[i].pid = pid;
		s->paused[i].vec = vec;
		s->nr_paused++;
		return;
	}
	s->paused_lost++;
}

static __always_inline bool softirq_resume(struct load_slot *s, u32 pid)
{
	for (int i = 0; i < LOAD_NR_PAUSED; i++) {
		if (s->paused[i].pid != pid)
			continue;
		s->vec = s->paused[i].vec;
		s->paused[i].pid = 0;
		s->nr_paused--;
		return true;
	}
	return false;
}

static __always_inline void vec_begin(struct load_slot *s, u64 now)
{
	s->vec_start = now - s->hirq_in_ns;
}

static __always_inline u64 vec_end(struct load_slot *s, u64 now, u64 vec)
{
	s64 ran = now - s->hirq_in_ns - s->vec_start;

	/* CLOCK_MONOTONIC may go back by a few ns when the kernel adjusts the clock */
	ran = ran > 0 ? ran : 0;
	if (vec < LOAD_NR_VECS)
		s->vec_ns[vec] += ran;
	return ran;
}

/*
 * Returns true if a switch between tasks need not end the current interval, because no exit event
 * was lost and no softirq was preempted.
 */
static __always_inline bool task_goes_on(const struct load_slot *s)
{
	return base_ctx(s) == LOAD_TASK && !(hirq_depth(s) | s->nr_paused);
}

/*
 * Handles a rare task switch: the first event of a core, a switch after a lost exit event, a switch
 * that preempts a softirq, or a switch that reads a hardware counter.
 */
static __noinline int switch_rare(struct load_slot *s, struct task_struct *prev,
				  struct task_struct *next, u32 to, u64 now)
{
	if (hirq_depth(s))
		hirq_heal(s, now);
	if (s->vec) {
		vec_end(s, now, s->vec - 1);
		softirq_pause(s, prev->pid);
	}
	if (!s->base)
		s->base = task_ctx(prev);
	base_move(s, now, to);
	if (s->nr_paused && to != LOAD_LOOP && softirq_resume(s, next->pid)) {
		vec_begin(s, now);
		if (to == LOAD_TASK)
			s->base = (s->base & ~0xffULL) | LOAD_SOFTIRQ_TASK;
	}
	if (FILLED(LOAD_FILLED_PMU))
		pmu_sample(s, now);
	return 0;
}

/* @mono is CLOCK_MONOTONIC. */
static __always_inline int switch_edge(struct load_slot *s, struct task_struct *prev,
				       struct task_struct *next, u32 to, u64 mono)
{
	u64 now = mono - s->start_ns;

	if (before_start(now))
		return 0;
	if (FILLED_FLAG(LOAD_FILLED_PMU) || (hirq_depth(s) | s->vec | s->nr_paused) || !s->base)
		return switch_rare(s, prev, next, to, now);
	base_move(s, now, to);
	return 0;
}

/* noise_vec_paused() is a separate function, because only PREEMPT_RT preempts softirqs. */
static __noinline int noise_vec_paused(const struct load_slot *s, u32 cpu, u64 vec, u64 ns)
{
	return noise_vec(s, cpu, vec, ns);
}

static __noinline int switch_noise(struct load_slot *s, struct task_struct *prev,
				   struct task_struct *next, u64 mono)
{
	u64 vec = (u64)s->vec - 1, before = vec < LOAD_NR_VECS ? s->vec_ns[vec] : 0;

	switch_edge(s, prev, next, task_ctx(next), mono);
	/* s->base is 0 before the start of the measurement. */
	if (!s->base)
		return 0;
	if (vec < LOAD_NR_VECS)
		noise_vec_paused(s, task_cpu(next), vec, s->vec_ns[vec] - before);
	return noise_switch(s, prev, next);
}

/*
 * Returns true if a switch from @prev to a user task never ends the interval of a context. Both
 * tasks have the context LOAD_TASK, unless PREEMPT_RT preempted a softirq. A lost exit event is
 * corrected at the next switch to the idle task or a kernel thread.
 */
static __always_inline bool switch_from_user(struct task_struct *prev)
{
	return !(prev->flags & PF_KTHREAD) &&
	       !bpf_core_field_exists(((struct task_struct___rt *)0)->softirq_disable_cnt);
}

/*
 * Returns true if a switch from @prev ends the current interval, because noise measures each kernel
 * thread.
 */
static __always_inline bool switch_measures(struct task_struct *prev)
{
	return FILLED(LOAD_FILLED_NOISE) && prev->flags & PF_KTHREAD;
}

/*
 * True if the task switch from @prev to @next ends no interval of a context. The idle task counts
 * as a kernel thread (PF_KTHREAD). SWITCH_GOES_ON is a macro, because most switches need not
 * compute the address @slot.
 */
#define SWITCH_GOES_ON(slot, prev, next)    \
	(!((next)->flags & PF_KTHREAD) &&   \
	 (switch_from_user(prev) || (!switch_measures(prev) && task_goes_on(slot))))

/*
 * Handles a switch to a kernel thread. ksoftirqd and threads of threaded NAPI count as
 * LOAD_KSOFTIRQD, all other threads as LOAD_TASK.
 */
static __noinline int switch_to_thread(struct load_slot *s, struct task_struct *prev,
				       struct task_struct *next, u64 mono)
{
	u32 to = task_ctx(next);

	if (!FILLED(LOAD_FILLED_PMU) && to == LOAD_TASK && task_goes_on(s))
		return 0;
	return switch_edge(s, prev, next, to, mono);
}

static __always_inline int switch_to_idle(struct load_slot *s, struct task_struct *prev,
					  struct task_struct *next, u64 mono)
{
	if (FILLED(LOAD_FILLED_NOISE))
		return switch_noise(s, prev, next, mono);
	return switch_edge(s, prev, next, LOAD_LOOP, mono);
}

/* Handles a switch to a task, not to idle, if SWITCH_GOES_ON() is false (an interval may end). */
static __always_inline int switch_to_task(struct load_slot *s, struct task_struct *prev,
					  struct task_struct *next, u64 mono)
{
	if (FILLED(LOAD_FILLED_NOISE))
		return switch_noise(s, prev, next, mono);
	if (next->flags & PF_KTHREAD)
		return switch_to_thread(s, prev, next, mono);
	return switch_edge(s, prev, next, LOAD_TASK, mono);
}

/* Handles a switch to a task or to idle if SWITCH_GOES_ON() is false (an interval may end). */
static __always_inline int switch_ends(struct load_slot *s, struct task_struct *prev,
				       struct task_struct *next, u64 mono)
{
	return next->pid ? switch_to_task(s, prev, next, mono)
			 : switch_to_idle(s, prev, next, mono);
}

/* Reads prev and next from @ctx instead of taking arguments, to save registers of the caller. */
static __noinline int switch_other(u64 *ctx)
{
	struct task_struct *prev, *next;
	u64 mono = bpf_ktime_get_ns();

	switch_tasks(ctx, switch_state_first, &prev, &next);
	return switch_ends(slot_at(task_cpu(next)), prev, next, mono);
}

/* Variant for --tasks: each switch ends an interval and adds its length to the previous task. */
static __noinline int switch_by_task(u64 *ctx)
{
	struct task_struct *prev, *next;
	struct load_slot *s;

	switch_tasks(ctx, switch_state_first, &prev, &next);
	s = slot_at(task_cpu(next));
	switch_edge(s, prev, next, task_ctx(next), bpf_ktime_get_ns());
	/* s->base is 0 before the start of the measurement. */
	return s->base ? task_switch(s, prev, next) : 0;
}

/* Measures load as a part of a program on sched_switch. */
static __always_inline int switch_load(u64 *ctx)
{
	struct task_struct *prev, *next;

	if (FILLED(LOAD_FILLED_TASKS))
		return switch_by_task(ctx);
	if (FILLED(LOAD_FILLED_PMU))
		return switch_other(ctx);
	switch_tasks(ctx, switch_state_first, &prev, &next);
	return SWITCH_GOES_ON(slot_at(task_cpu(next)), prev, next) ? 0 : switch_other(ctx);
}

#endif
