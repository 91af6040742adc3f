/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The quick path: a short wait in a group whose slot is known, which is almost every one. It either
 * counts a wait in full and the same as the other path, or has changed nothing. It makes no calls
 * and looks nothing up, so that it needs few registers.
 */
#ifndef SUBTICK_BPF_RUNQ_QUICK_H
#define SUBTICK_BPF_RUNQ_QUICK_H

#include "load_switch.bpf.h"
#include "runq_charge.bpf.h"

/* Previous task: it blocks, is preempted, or is the idle task. */
enum from {
	FROM_SLEEP,
	FROM_TASK,
	FROM_IDLE,
};

/* A lag above this is for the other path; arm64 compares with it in one instruction. */
#define QUICK_LATE_NS 0xfff000
/* For how long a core's clock need not be looked at again: 20 ns at a drift of 20 ppm. */
#define QUICK_UNTIL_NS (1ULL << 20)

/* Each field question costs an instruction, so kernels with all fields have their own programs. */
static __always_inline bool quick_runnable(struct mode mode, struct task_struct *task)
{
	return mode.modern ? !((struct task_struct___new *)task)->__state : task_runnable(task);
}

/* True if one function handles all switches. With causes there are too few registers. */
static __always_inline bool quick_one_function(struct mode mode)
{
	return !mode.causes && !mode.some;
}

static __always_inline u64 quick_cpu(struct mode mode, struct task_struct *task)
{
	u64 cpu;

	if (mode.modern || !bpf_core_field_exists(((struct task_struct___cpu *)0)->cpu)) {
		cpu = task->thread_info.cpu;
		asm volatile("" : "+r"(cpu));
	} else {
		cpu = ((struct task_struct___cpu *)task)->cpu;
		asm volatile("" : "+r"(cpu));
	}
	FILLED_AND(cpu, CORE_FILLED_CPU_MASK);
	return cpu;
}

/* The run queue's clock: exec_start unless the kernel subtracts interrupts or steal from that. */
static __always_inline u64 quick_clock(struct mode mode, struct task_struct *task)
{
	u64 clock;

	/* With a barrier in each case the compiler does not make one load at a computed offset. */
	if (mode.modern && !FILLED(RUNQ_FILLED_RQ_CLOCK)) {
		clock = task->se.exec_start;
		asm volatile("" : "+r"(clock));
	} else {
		clock = task->se.cfs_rq->rq->clock;
		asm volatile("" : "+r"(clock));
	}
	return clock;
}

static __always_inline u64 quick_key(struct task_struct *task)
{
	u64 key;

	if (FILLED(RUNQ_FILLED_V2)) {
		key = task->cgroups->dfl_cgrp->self.serial_nr;
		asm volatile("" : "+r"(key));
	} else {
		key = task_css(task, false)->serial_nr;
		asm volatile("" : "+r"(key));
	}
	return key;
}

static __always_inline bool hash_low(u64 w, const struct runq_sample *s)
{
	/* Otherwise clang copies the factor first. */
	asm volatile("" : "+r"(w));
	w *= s->factor;
	return w * w < s->below;
}

/*
 * True if the next dispatch of @task may be in the sample; false positives are tasks that never ran. The runtime of a
 * task is constant from the switch at which it leaves the core to its next dispatch, so both ends of a wait decide
 * alike. The square of its product with a random factor decorrelates dispatches after equal runtimes. The idle task is
 * in no sample.
 */
static __always_inline bool task_drawn(struct task_struct *task)
{
	return hash_low(task->se.sum_exec_runtime, &sample) && task->pid;
}

/* With a runtime of 0 the start time decides. */
static __always_inline bool task_ran_or_drawn(struct task_struct *task)
{
	return task->se.sum_exec_runtime || hash_low(task->start_time, &sample);
}

static __always_inline bool task_sampled(struct task_struct *task)
{
	return task_drawn(task) && task_ran_or_drawn(task);
}

/* True for idle and if the entry has a group that was not requested. A key above 32 bits: slow path. */
static __always_inline bool quick_unwanted(struct task_struct *task)
{
	u32 pid = task->pid;

	return !pid || (task_at(pid)->group ^ quick_key(task)) ==
			       RUNQ_GROUP(RUNQ_PLACE_UNWANTED, RUNQ_FAR_KEY);
}

/*
 * A preempted task waits from now on. The kernel counts that wait from the last update of its
 * clock: longer by the clock's lag. The lag is added to the stored run_delay, so that it is
 * subtracted from the wait.
 */
static __always_inline u64 task_delay(struct task_struct *prev, u64 late_ns)
{
	return DELAY_TAG(prev->pid) + prev->sched_info.run_delay + late_ns;
}

/* A bucket with a boundary of --le. */
static __noinline int quick_le(void *slot, u64 cpu, u64 wait_ns)
{
	wait_count(slot, cpu % RUNQ_MAX_CPUS, wait_ns);
	return 0;
}

/* To a counter of a histogram. */
static __always_inline void quick_add(u64 *count)
{
	if (FILLED(RUNQ_FILLED_SHARED))
		__sync_fetch_and_add(count, 1);
	else
		(*count)++;
}

/* As slot_stripe(), from the point of the quick path. */
static __always_inline void *quick_stripe(void *point, u64 cpu, u64 size)
{
	u64 stripe = cpu % RUNQ_MAX_STRIPES;

	/* The compiler would invert all bits first, which arm64 does in two instructions. */
	asm volatile("" : "+r"(stripe));
	stripe ^= RUNQ_MAX_STRIPES - 1;
	return point + stripe * size + RUNQ_QUICK_TO_CELLS - RUNQ_MAX_STRIPES * size;
}

/* A short wait in a bucket with a boundary, or in a bucket that the table has no number for. */
static __always_inline void quick_other(void *point, u64 cpu, u64 wait_ns, u64 at)
{
	u64 shift = at - RUNQ_QUICK_SHIFT;

	if (FILLED(RUNQ_FILLED_STEPS) || at >= RUNQ_QUICK_LE)
		quick_le(point + (RUNQ_QUICK_TO_CELLS - RUNQ_TO_CELLS), cpu, wait_ns);
	else
		quick_add(&((struct runq_hist *)quick_stripe(point, cpu, sizeof(struct runq_hist)))
				   ->count[(shift * HIST_SUB + (wait_ns >> shift)) % HIST_NR]);
}

/* @base is the memory that contains @point and the table of short waits. */
static __always_inline void quick_count(struct mode mode, void *base, void *point, u64 cpu,
					u64 wait_ns)
{
	const u8 *table = base + RUNQ_QUICK_TO_CELLS - RUNQ_NEAR_CELLS - RUNQ_NEAR_TABLE;
	u64 at = wait_ns / HIST_SUB;

	/* The compiler may reload it from the stack, where older verifiers lose the bound. */
	if (!mode.modern) {
		asm volatile("" : "+r"(at));
		at %= RUNQ_NR_QUICK;
	}
	at = table[at];
	/* No step has a number as large as a shift. */
	if (unlikely(at >= RUNQ_QUICK_SHIFT)) {
		/* Not shared between both cases: this one computes more. */
		barrier();
		quick_other(point, cpu, wait_ns, at);
		return;
	}
	if (FILLED(RUNQ_FILLED_STEPS))
		quick_add(&((struct runq_steps *)quick_stripe(point, cpu, sizeof(struct runq_steps)))
				   ->count[at]);
	else
		quick_add(&((struct runq_hist *)quick_stripe(point, cpu, sizeof(struct runq_hist)))
				   ->count[RUNQ_QUICK_FIRST + at]);
}

/* One wait while it is tested. */
struct quick_wait {
	struct task_struct *next;
	struct runq_task *entry;
	u64 cpu, clock, late_ns, wait_ns, booked, group;
	void *base, *point; /* memory of all slots, and of this slot */
	void *cell; /* RUNQ_QUICK_TO_CELLS before it */
	struct core_block *core;
	u64 from, ran; /* only for causes */
};

static __always_inline struct runq_cell *quick_cell(const struct quick_wait *w)
{
	return w->cell + RUNQ_QUICK_TO_CELLS;
}

/* Lag of the run queue's clock. Stores the offset of that clock for the quick path. */
static __always_inline u64 clock_look(struct runq_cpu *pc, u64 mono, u64 clock)
{
	u64 late_ns = clock_late(&pc->clock, mono, clock);

	pc->off = mono - clock - late_ns;
	pc->until = mono + QUICK_UNTIL_NS;
	/*
	 * The clock always lags when a wake-up ends idling. Every 16th time the offset becomes invalid, so that the
	 * switch back to idle measures it.
	 */
	if (!(pc->clock.looks % CLOCK_EPOCH_LOOKS)) {
		pc->off = mono;
		pc->until = 0;
	}
	return late_ns;
}

/* Leaves every 16th measurement to the slow path: the offset is then invalid after this switch, not in it. */
static __noinline int clock_look_slow(struct runq_cpu *pc, u64 mono, u64 clock)
{
	if ((pc->clock.looks + 1) % CLOCK_EPOCH_LOOKS)
		clock_look(pc, mono, clock);
	else
		pc->off = mono;
	return 0;
}

/* Measures the clock's offset if the last one is too old. quick_late() then fails only if it is unknown. */
static __always_inline void clock_look_again(struct runq_cpu *pc, u64 mono, u64 clock)
{
	if (unlikely(mono >= pc->until))
		clock_look_slow(pc, mono, clock);
}

/*
 * Stores the clock's lag in @w; false if it must be learned. @keep: @mono also goes to memory. @looked: after
 * clock_look_again().
 */
static __always_inline bool quick_late(struct quick_wait *w, u64 mono, bool keep, bool looked)
{
	struct runq_cpu *pc = &w->core->runq;

	if (keep)
		pc->mono = mono;
	if (!looked && unlikely(mono >= pc->until))
		return false;
	mono -= w->clock;
	/* Otherwise the compiler adds the other two first, which costs a copy. */
	asm volatile("" : "+r"(mono));
	w->late_ns = mono - pc->off;
	return w->late_ns <= QUICK_LATE_NS;
}

/* The entry of a task, in memory at @tasks. */
static __always_inline struct runq_task *quick_task(void *tasks, struct task_struct *task)
{
	return OFFSET(tasks, (u64)((u32)task->pid % RUNQ_NR_TASKS) * sizeof(struct runq_task));
}

/* Whether the wait is short, of this task, and in a group whose slot is near. */
static __always_inline bool quick_short(struct quick_wait *w, void *tasks, u64 last_ns)
{
	u32 pid = w->next->pid;

	w->entry = quick_task(tasks, w->next);
	w->booked = DELAY_TAG(pid) + w->next->sched_info.run_delay + last_ns;
	w->wait_ns = w->booked - w->entry->delay + w->late_ns;
	/* Also for a negative wait, an unknown start, or the entry of another task. */
	if (unlikely(w->wait_ns >= RUNQ_QUICK_NS))
		return false;
	w->group = w->entry->group;
	return (u32)w->group == (u32)quick_key(w->next);
}

/* After the last test. If there are few registers, the delay is read again. */
static __always_inline void quick_booked(struct mode mode, const struct quick_wait *w)
{
	if (!mode.causes) {
		w->entry->delay = w->booked;
		return;
	}
	barrier();
	w->entry->delay += w->wait_ns - w->late_ns;
}

#define CAUSE_AT(cause) (offsetof(struct runq_cell, cause_ns) + (cause) * sizeof(u64))

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
static __always_inline bool quick_one_segment(struct mode mode, struct quick_wait *w, u64 last_ns)
{
	u64 total;

	if (unlikely(w->wait_ns > last_ns + w->late_ns))
		return false;
	if (mode.modern)
		total = ((struct cfs_rq___self *)w->next->se.cfs_rq)->throttled_clock_self_time;
	if ((mode.modern || held_clock(w->next, &total)) && unlikely(quick_cell(w)->held_quick != total + 1))
		return false;
	w->from = w->clock + w->late_ns - w->wait_ns;
	return w->core->runq.now.start_ns - 1 < w->from;
}

/* Ends the segment that runs, and begins the next one. */
static __always_inline void seg_switch(struct core_block *core, u64 now, u64 ran)
{
	struct runq_cpu *pc = &core->runq;
	u64 head = pc->head;
	struct runq_seg *seg = OFFSET(core, head & (RUNQ_NR_SEGS - 1) * RUNQ_SEG_STEP) +
			       offsetof(struct core_block, runq.segs);

	pc->head = head + RUNQ_SEG_STEP;
	*seg = pc->now;
	pc->now.start_ns = now;
	pc->now.ran = ran;
}

/*
 * A sample records only segments that a waiting task may need. If @prev got the core while no other task waited, its
 * segment is added here, after one that is unknown: all tasks that wait now were enqueued later, unless quota held them.
 */
static __noinline int seg_missed(struct core_block *core, struct task_struct *prev)
{
	struct mode mode = {.cgroup_v2 = cgroup_v2};
	u32 who = RUNQ_WHO_KTHREAD;

	if (!(prev->flags & PF_KTHREAD))
		who = slot_cached(mode, &core->runq, task_key(mode, prev, 0), prev);
	core->runq.now = (struct runq_seg){};
	seg_switch(core, prev->sched_info.last_arrival, RUNQ_RAN(who, prev->pid));
	return 0;
}

static __always_inline void seg_sync(struct core_block *core, struct task_struct *prev)
{
	const struct runq_seg *now = &core->runq.now;

	if (now->start_ns < prev->sched_info.last_arrival || RUNQ_RAN_PID(now->ran) != (u32)prev->pid)
		seg_missed(core, prev);
}

/*
 * True if the queue has no tasks but @next and @prev, which stays in it if preempted and, since 6.12, often if it blocks.
 * A @prev that quota took off the queue counts as if it were in it. False at a switch to idle.
 */
static __always_inline bool none_waits(struct task_struct *prev, struct task_struct *next)
{
	return next->se.cfs_rq->rq->nr_running - prev->se.on_rq == 1;
}

/*
 * With causes: true if a sample needs nothing of the switch but, for a task that blocks, the run_delay before its next
 * wait. A preempted task in the sample waits for @next.
 */
static __always_inline bool sample_skips(struct mode mode, struct task_struct *prev,
					 struct task_struct *next, const struct runq_sample *s)
{
	if (unlikely(hash_low(next->se.sum_exec_runtime, s)) || !none_waits(prev, next))
		return false;
	if (unlikely(hash_low(prev->se.sum_exec_runtime, s)) && prev->pid) {
		if (quick_runnable(mode, prev))
			return false;
		task_at(prev->pid)->delay = task_delay(prev, 0);
	}
	return true;
}

/* Books the wait by its cause, and who runs from now on. */
static __always_inline void quick_book(struct quick_wait *w)
{
	const u32 ring = (RUNQ_NR_SEGS - 1) * RUNQ_SEG_STEP;
	struct runq_cpu *pc = &w->core->runq;
	u32 place = w->group >> 32;
	u64 cause = quick_cause_of(pc->now.ran, place);
	struct runq_seg *seg;

	if (unlikely(pc->now.start_ns == w->from)) {
		seg = (void *)pc->segs + ((pc->head - RUNQ_SEG_STEP) & ring);
		if (RUNQ_RAN_PID(seg->ran) == (u32)w->next->pid)
			cause = CAUSE_AT(RUNQ_PREEMPTED);
	}
	*(u64 *)(OFFSET(w->cell, cause) + RUNQ_QUICK_TO_CELLS) += w->wait_ns;
	barrier();
	w->ran = pc->now.ran;
	if (w->next->flags & PF_KTHREAD)
		place = RUNQ_WHO_KTHREAD;
	seg_switch(w->core, w->from + w->wait_ns, RUNQ_RAN(place, w->next->pid));
}

/* Blame for a wait within one segment. */
static __always_inline void quick_blame(const struct quick_wait *w)
{
	u64 pair = RUNQ_PAIR(w->group >> 32, w->ran);
	struct runq_pair_cell *cell = pair_at(pair, w->cpu);

	if (unlikely(cell->pair != pair)) {
		pair_miss(pair, w->wait_ns);
		return;
	}
	cell->wait_ns += w->wait_ns;
	cell->count++;
}

/*
 * From a task that sleeps to idle: only the segment ends. The clock does not lag. False if its distance is below the
 * least that is known, which must be learned.
 */
static __always_inline bool quick_to_idle(struct mode mode, struct task_struct *prev,
					  struct core_block *core, u64 mono)
{
	u64 clock = quick_clock(mode, prev);

	if (mono - core->runq.off < clock)
		return false;
	if (mode.causes)
		seg_switch(core, clock, RUNQ_RAN(RUNQ_WHO_IDLE, 0));
	return true;
}

/* Only the wait of a preempted task begins; false if it is for the other path. */
static __always_inline bool quick_leaves(struct mode mode, struct task_struct *prev,
					 struct task_struct *next, u64 mono)
{
	struct quick_wait w = {.next = next, .clock = quick_clock(mode, next)};

	w.core = core_masked(quick_cpu(mode, next));
	if (!next->pid || !quick_late(&w, mono, false, false))
		return false;
	task_at(prev->pid)->delay = task_delay(prev, w.late_ns);
	return true;
}

/*
 * With causes, a wait that is not counted: of a group that was not requested, or outside the sample. Only the segment of
 * the core is recorded, where the wait of @prev begins, and for a sample the run_delay of @next. False if it is for the
 * other path.
 */
static __always_inline bool quick_segment(struct mode mode, struct task_struct *prev,
					  struct task_struct *next, enum from from, u64 mono,
					  struct core_block *core)
{
	struct quick_wait w = {.next = next, .core = core};
	u64 queued = next->sched_info.last_queued, learn = queued;
	u32 place = RUNQ_PLACE_UNWANTED;

	w.clock = quick_clock(mode, next);
	FILLED_AND(learn, RUNQ_FILLED_LEARN);
	if (!next->pid || (from == FROM_SLEEP ? queued == w.clock || !learn : !quick_late(&w, mono, false, false)))
		return false;
	if (FILLED(RUNQ_FILLED_SOME) == RUNQ_SOME_SAMPLE) {
		w.entry = task_at(next->pid);
		w.group = w.entry->group;
		if (!queued || (u32)w.group != (u32)quick_key(next))
			return false;
		w.entry->delay = task_delay(next, w.clock - queued);
		place = w.group >> 32;
	}
	if (from == FROM_TASK)
		task_at(prev->pid)->delay = task_delay(prev, w.late_ns);
	if (next->flags & PF_KTHREAD)
		place = RUNQ_WHO_KTHREAD;
	seg_switch(core, w.clock + w.late_ns, RUNQ_RAN(place, next->pid));
	return true;
}

/* True if the wait of @task is not counted, by an operand that is 0 if all waits are. */
static __always_inline bool quick_skips(struct task_struct *task)
{
	u64 some = FILLED(RUNQ_FILLED_SOME);

	if (some == RUNQ_SOME_FILTER)
		return quick_unwanted(task);
	return some == RUNQ_SOME_SAMPLE && !task_sampled(task);
}

/* False: take the slow path. @mono is not used if a task sleeps; @core is the block of @cpu. */
static __always_inline bool quick_switch(struct mode mode, struct task_struct *prev,
					 struct task_struct *next, enum from from, u64 mono, u64 cpu,
					 struct core_block *core)
{
	struct quick_wait w = {.next = next, .cpu = cpu, .core = core};
	void *tasks;
	u64 queued, last_ns, delay, learn;

	if (mode.causes && quick_skips(next))
		return quick_segment(mode, prev, next, from, mono, core);
	w.clock = quick_clock(mode, w.next);
	if (from != FROM_SLEEP &&
	    unlikely(!quick_late(&w, mono, from == FROM_TASK && quick_one_function(mode),
			       mode.causes || (from == FROM_IDLE && quick_one_function(mode)))))
		return false;
	tasks = FIXED(tasks);
	/* Done already if this turns out to be odd: it can be done twice. */
	if (from == FROM_TASK) {
		delay = task_delay(prev, w.late_ns);
		/* In this order, here and below, no further register has to be saved. */
		asm volatile("" : "+r"(delay));
		quick_task(tasks, prev)->delay = delay;
	}
	/* If the start is unknown, or next is idle: as large as can be. */
	queued = next->sched_info.last_queued;
	last_ns = w.clock - queued;
	asm volatile("" : "+r"(last_ns));
	if (from == FROM_SLEEP) {
		learn = queued;
		FILLED_AND(learn, RUNQ_FILLED_LEARN);
		if (unlikely(!last_ns || !learn))
			return false;
	}
	if (unlikely(!quick_short(&w, tasks, last_ns)))
		return false;
	/* Without causes this is the first use of it. */
	if (from == FROM_SLEEP && !mode.causes)
		w.cpu = quick_cpu(mode, w.next);
	if (!mode.causes)
		quick_booked(mode, &w);
	w.base = FIXED(quick);
	w.point = OFFSET(w.base, w.group >> 32 & RUNQ_NEAR_MASK);
	w.cell = OFFSET(w.point, w.cpu * sizeof(struct runq_cell));
	if (mode.causes && unlikely(!quick_one_segment(mode, &w, last_ns)))
		return false;
	if (mode.causes)
		quick_booked(mode, &w);
	/*
	 * Wait time before the run-queue clock update. A preempted prev is over-charged by the same
	 * amount.
	 */
	if (from == FROM_IDLE)
		core->runq.unbooked_ns += w.late_ns;
	if (mode.causes)
		quick_book(&w);
	else
		quick_cell(&w)->cause_ns[RUNQ_WHOLE] += w.wait_ns;
	if (w.wait_ns > quick_cell(&w)->max_ns)
		quick_cell(&w)->max_ns = w.wait_ns;
	quick_count(mode, w.base, w.point, w.cpu, w.wait_ns);
	/* Each case has an end of its own: the compiler would let one jump into the other's. */
	if (from == FROM_TASK)
		asm volatile("");
	if (mode.causes && FILLED_FLAG(RUNQ_FILLED_BLAME) && w.wait_ns)
		quick_blame(&w);
	return true;
}

#endif
