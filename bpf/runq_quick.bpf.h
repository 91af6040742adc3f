/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The quick path: a short wait in a group whose slot is known, which is almost every one. It either
 * counts a wait in full and the same as the other path, or has changed nothing. It makes no calls
 * and looks nothing up, so that it needs few registers and saves none.
 */
#ifndef SUBTICK_BPF_RUNQ_QUICK_H
#define SUBTICK_BPF_RUNQ_QUICK_H

#include "runq_charge.bpf.h"

enum quick {
	QUICK_DONE,
	QUICK_LATE, /* the clock may lag: CLOCK_MONOTONIC must be read */
	QUICK_IDLE, /* likewise, and the core was idle */
	QUICK_ODD,  /* for the other path */
};

/* Who has the core until now: a task that goes to sleep, one that loses the core, or nobody. */
enum from {
	FROM_SLEEP,
	FROM_TASK,
	FROM_IDLE,
};

/* Of the switches whose clock does not lag, one in 64 is measured all the same, to learn from. */
#define QUICK_LEARN 0x3f000
/* A lag above this is for the other path. */
#define QUICK_LATE_NS 0x7fffffff
/* For how long a core's clock need not be looked at again: 20 ns at a drift of 20 ppm. */
#define QUICK_UNTIL_NS (1ULL << 20)

/* A plain load: the verifier knows the type of the tracepoint's argument. */
static __always_inline bool task_runnable(struct task_struct *task)
{
	if (bpf_core_field_exists(((struct task_struct___new *)0)->__state))
		return !((struct task_struct___new *)task)->__state;
	return !((struct task_struct___old *)task)->state;
}

/*
 * Each question about the kernel costs an instruction, though its answer is constant. So kernels
 * that have all of these have programs of their own, which do not ask: user space does.
 */
static __always_inline bool quick_runnable(struct mode mode, struct task_struct *task)
{
	return mode.modern ? !((struct task_struct___new *)task)->__state : task_runnable(task);
}

static __always_inline u64 quick_cpu(struct mode mode, struct task_struct *task)
{
	u64 cpu;

	/* With a barrier in each case the compiler does not make one load at a computed offset. */
	if (mode.modern || !bpf_core_field_exists(((struct task_struct___cpu *)0)->cpu)) {
		cpu = task->thread_info.cpu % RUNQ_MAX_CPUS;
		asm volatile("" : "+r"(cpu));
	} else {
		cpu = ((struct task_struct___cpu *)task)->cpu % RUNQ_MAX_CPUS;
		asm volatile("" : "+r"(cpu));
	}
	return cpu;
}

/*
 * The run queue's clock at the switch to @task, which is not idle. A task that gets the core is
 * stamped with clock_task, which is the same where neither interrupts nor steal are subtracted
 * from that, and takes one load instead of three. Which kernels subtract is known when the
 * programs are loaded.
 */
static __always_inline u64 quick_clock(struct mode mode, struct task_struct *task)
{
	return mode.modern && !mode.rq_clock ? task->se.exec_start : task->se.cfs_rq->rq->clock;
}

static __always_inline u32 quick_key(struct mode mode, struct task_struct *task)
{
	return mode.cgroup_v2 ? task->cgroups->dfl_cgrp->self.serial_nr
			      : task_css(task, false)->serial_nr;
}

/*
 * Whether the next dispatch of a task that waits or leaves the core is in the sample. Between its
 * leaving and that dispatch neither number changes, so that both ends of a wait decide alike and
 * nothing is kept of waits outside the sample. The square of a number that grows by the same with
 * each dispatch is as good as random: how far it is from the last one changes each time.
 */
static __always_inline bool task_sampled(struct task_struct *task)
{
	u64 w = task->sched_info.pcount * 0x5851f42dULL + task->start_time + sample.seed;

	return w * w >> 32 < sample.below;
}

/* Whether the task is in a group that was not asked for, as far as its entry tells; idle is in none. */
static __always_inline bool quick_unwanted(struct mode mode, struct task_struct *task)
{
	u32 pid = task->pid, key;

	if (!pid)
		return true;
	key = quick_key(mode, task) ^ RUNQ_FAR_KEY;
	return task_at(pid)->group == RUNQ_GROUP(RUNQ_PLACE_UNWANTED, key);
}

/* Whether neither end of a wait is at this switch: none begins for prev, none ends for next. */
static __always_inline bool quick_outside(struct mode mode, u64 *ctx)
{
	struct task_struct *prev, *next;

	switch_tasks(ctx, mode.state_first, &prev, &next);
	return quick_unwanted(mode, next) &&
	       (!quick_runnable(mode, prev) || quick_unwanted(mode, prev));
}

/* What the other path has learned of the clock, for the next milliseconds. */
static __always_inline void quick_learn(const struct dispatch *d, u64 mono)
{
	struct runq_core *core = &cores[bpf_get_smp_processor_id() % RUNQ_MAX_CPUS];

	core->off = mono - d->clock - d->late_ns;
	core->until = mono + QUICK_UNTIL_NS;
}

/*
 * Who loses the core while runnable waits from now on. The kernel counts that wait from the last
 * update of its clock: longer by the clock's lag. The lag is added to the stored run_delay, so
 * that it is subtracted from the wait.
 */
static __always_inline void task_leaves(struct task_struct *prev, u64 late_ns)
{
	u32 pid = prev->pid;

	task_at(pid)->delay = DELAY_TAG(pid) + prev->sched_info.run_delay + late_ns;
}

/* A bucket with a boundary of --le. */
static __noinline int quick_le(void *slot, u64 cpu, u64 wait_ns)
{
	wait_count(slot, cpu % RUNQ_MAX_CPUS, wait_ns);
	return 0;
}

static __always_inline void quick_count(struct mode mode, void *slot, u64 cpu, u64 wait_ns)
{
	u64 shift = mode.steps ? quick_step[wait_ns / HIST_SUB] : quick_shift[wait_ns / HIST_SUB];
	u64 *count;

	if (rarely(shift >= RUNQ_QUICK_LE)) {
		quick_le(slot, cpu, wait_ns);
		return;
	}
	if (mode.steps)
		count = &slot_steps(slot, cpu)->count[shift];
	else
		count = &slot_hist(slot, cpu)
				 ->count[(shift * HIST_SUB + (wait_ns >> shift)) % HIST_NR];
	if (mode.modern ? mode.shared : layout.kind & RUNQ_SHARED)
		__sync_fetch_and_add(count, 1);
	else
		(*count)++;
}

/* One wait while it is tested. */
struct quick_wait {
	struct task_struct *next;
	struct runq_task *entry;
	u64 cpu, clock, late_ns, booked, wait_ns, group;
	void *slot;
	struct runq_cell *cell;
	struct runq_cpu *pc; /* the rest only for causes */
	u64 from, ran;
};

/* The lag of the clock, which goes to @w; false if it must be learned again. */
static __always_inline bool quick_late(struct quick_wait *w, u64 mono)
{
	const struct runq_core *core = &cores[w->cpu];

	w->late_ns = mono - w->clock - core->off;
	return w->late_ns <= QUICK_LATE_NS && mono < core->until;
}

/* Whether the wait is short, of this task, and in a group whose slot is near. */
static __always_inline bool quick_plain(struct mode mode, struct quick_wait *w, u64 last_ns)
{
	u32 pid = w->next->pid;

	w->entry = task_at(pid);
	w->booked = DELAY_TAG(pid) + w->next->sched_info.run_delay;
	w->wait_ns = w->booked - w->entry->delay + last_ns + w->late_ns;
	w->booked += last_ns;
	/* Also if it is negative, its start unknown, or the entry another task's. */
	if (rarely(w->wait_ns >= RUNQ_QUICK_NS))
		return false;
	w->group = w->entry->group;
	return (u32)w->group == quick_key(mode, w->next);
}

#define CAUSE_AT(cause) ((cause) * sizeof(u64))

/* As cause_of(), but the victim is never without a slot, and in bytes. */
static __always_inline u64 quick_cause_of(u32 ran, u32 victim)
{
	if (ran == victim)
		return CAUSE_AT(RUNQ_SAME);
	if (ran == RUNQ_WHO_IDLE)
		return CAUSE_AT(RUNQ_IDLE);
	return ran == RUNQ_WHO_KTHREAD ? CAUSE_AT(RUNQ_KTHREAD) : CAUSE_AT(RUNQ_OTHER);
}

/* Whether the wait lies within one segment of this core, and neither quota nor a move is in it. */
static __always_inline bool quick_within(struct mode mode, struct quick_wait *w, u64 last_ns)
{
	u64 total;

	if (rarely(w->cpu >= layout.cpus || w->wait_ns > last_ns + w->late_ns))
		return false;
	if (mode.modern)
		total = ((struct cfs_rq___self *)w->next->se.cfs_rq)->throttled_clock_self_time;
	if ((mode.modern || held_clock(w->next, &total)) && rarely(w->cell->held_quick != total + 1))
		return false;
	w->pc = cpu_at(w->cpu);
	w->from = w->clock + w->late_ns - w->wait_ns;
	return w->pc->now.start_ns - 1 < w->from;
}

/* Books the wait by its cause, and who runs from now on. */
static __always_inline void quick_book(struct quick_wait *w)
{
	const u32 ring = (RUNQ_NR_SEGS - 1) * RUNQ_SEG_STEP;
	struct runq_cpu *pc = w->pc;
	u32 place = w->group >> 32;
	u64 cause = quick_cause_of(pc->now.ran, place), head;
	struct runq_seg *seg;

	if (rarely(pc->now.start_ns == w->from)) {
		seg = (void *)pc->segs + ((pc->head - RUNQ_SEG_STEP) & ring);
		if (RUNQ_RAN_PID(seg->ran) == (u32)w->next->pid)
			cause = CAUSE_AT(RUNQ_PREEMPTED);
	}
	*(u64 *)((void *)w->cell->cause_ns + cause) += w->wait_ns;
	barrier();
	head = pc->head;
	seg = (void *)pc->segs + (head & ring);
	pc->head = head + RUNQ_SEG_STEP;
	w->ran = pc->now.ran;
	seg->ran = w->ran;
	seg->start_ns = pc->now.start_ns;
	pc->now.start_ns = w->from + w->wait_ns;
	if (w->next->flags & PF_KTHREAD)
		place = RUNQ_WHO_KTHREAD;
	pc->now.ran = RUNQ_RAN(place, w->next->pid);
}

/* Blame for a wait within one segment. */
static __always_inline void quick_blame(const struct quick_wait *w)
{
	u64 pair = RUNQ_PAIR(w->group >> 32, w->ran);
	struct runq_pair_cell *cell = pair_at(pair, w->cpu);

	if (rarely(cell->pair != pair)) {
		pair_miss(pair, w->wait_ns);
		return;
	}
	cell->wait_ns += w->wait_ns;
	cell->count++;
}

static __always_inline enum quick quick_switch(struct mode mode, u64 *ctx, enum from from, u64 mono)
{
	struct quick_wait w = {};
	struct task_struct *prev;
	u64 last_ns;

	switch_tasks(ctx, mode.state_first, &prev, &w.next);
	if (from == FROM_SLEEP && quick_runnable(mode, prev))
		return prev->pid ? QUICK_LATE : QUICK_IDLE;
	w.clock = quick_clock(mode, w.next);
	if (from != FROM_SLEEP) {
		w.cpu = quick_cpu(mode, w.next);
		if (rarely(!quick_late(&w, mono)))
			return QUICK_ODD;
	}
	/* Done already if this turns out to be odd: it can be done twice. */
	if (from == FROM_TASK)
		task_leaves(prev, w.late_ns);
	/* If the start is unknown, or next is idle: as large as can be. */
	last_ns = w.clock - w.next->sched_info.last_queued;
	if (from == FROM_SLEEP && rarely(!last_ns || !(w.clock & QUICK_LEARN)))
		return QUICK_ODD;
	if (rarely(!quick_plain(mode, &w, last_ns)))
		return QUICK_ODD;
	/* With causes it is compared with the number of CPUs: no need to mask it. */
	if (from == FROM_SLEEP && mode.modern && mode.causes)
		w.cpu = w.next->thread_info.cpu;
	else if (from == FROM_SLEEP)
		w.cpu = quick_cpu(mode, w.next);
	w.slot = slot_near(w.group >> 32);
	w.cell = slot_cell(w.slot, w.cpu);
	if (mode.causes && rarely(!quick_within(mode, &w, last_ns)))
		return QUICK_ODD;
	w.entry->delay = w.booked;
	/* What was tested is read again rather than kept in registers, of which there are few. */
	barrier();
	/* What it waited on before the clock's update; if a task lost the core, it has that too much. */
	if (from == FROM_IDLE)
		cores[w.cpu].unbooked_ns += w.late_ns;
	if (mode.causes)
		quick_book(&w);
	else
		w.cell->cause_ns[RUNQ_WHOLE] += w.wait_ns;
	if (w.wait_ns > w.cell->max_ns)
		w.cell->max_ns = w.wait_ns;
	quick_count(mode, w.slot, w.cpu, w.wait_ns);
	if (mode.blame && w.wait_ns)
		quick_blame(&w);
	return QUICK_DONE;
}

#endif
