/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fast path of runq's programs on sched_switch, for short waits of groups whose slot is known. A
 * function of the fast path either counts a wait with the same result as the slow path, or counts
 * nothing and returns false. The fast path avoids calls and map look-ups, to save registers.
 */
#ifndef SUBTICK_BPF_RUNQ_QUICK_H
#define SUBTICK_BPF_RUNQ_QUICK_H

#include "load_switch.bpf.h"
#include "runq_charge.bpf.h"

/* State of the previous task of a switch: it blocks, it is preempted, or it is the idle task. */
enum from {
	FROM_SLEEP,
	FROM_TASK,
	FROM_IDLE,
};

/*
 * Largest lag of the run queue's clock that the fast path accepts. QUICK_LATE_NS can be encoded in
 * an arm64 compare instruction.
 */
#define QUICK_LATE_NS 0xfff000
/*
 * Time for which a measured clock offset is valid. In QUICK_UNTIL_NS (1 ms), a drift of 20 ppm
 * between the run queue's clock and CLOCK_MONOTONIC causes an error of the clock offset of 20 ns.
 */
#define QUICK_UNTIL_NS (1ULL << 20)

/* Returns true if the task is runnable. mode.modern saves the test whether the field exists. */
static __always_inline bool quick_runnable(struct mode mode, struct task_struct *task)
{
	return mode.modern ? !((struct task_struct___new *)task)->__state : task_runnable(task);
}

/*
 * Returns true if one function handles both preempted tasks and tasks that block. If causes are
 * measured, one function for preempted and blocking tasks would need too many registers.
 */
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

/*
 * Reads the run queue's clock. exec_start has the same value, unless the kernel subtracts interrupt
 * time or steal time from exec_start.
 */
static __always_inline u64 quick_clock(struct mode mode, struct task_struct *task)
{
	u64 clock;

	/*
	 * Without asm barriers, clang merges both loads of `clock` into one at a computed offset.
	 */
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
	/* Without the asm barrier, clang copies s->factor to a register before it multiplies. */
	asm volatile("" : "+r"(w));
	w *= s->factor;
	return w * w < s->below;
}

/*
 * Returns true if the next wait of @task is in the sample, or if the task never ran. The sample is
 * selected by a hash of the task's run time, which does not change while the task waits. The idle
 * task is never in the sample.
 */
static __always_inline bool task_is_sampled(struct task_struct *task)
{
	return hash_low(task->se.sum_exec_runtime, &sample) && task->pid;
}

/* A task that never ran is sampled by its start time. */
static __always_inline bool task_ran_or_sampled(struct task_struct *task)
{
	return task->se.sum_exec_runtime || hash_low(task->start_time, &sample);
}

static __always_inline bool task_sampled(struct task_struct *task)
{
	return task_is_sampled(task) && task_ran_or_sampled(task);
}

/*
 * Returns true for the idle task and for tasks of a group that the filter excludes.
 * quick_unwanted() does not recognise excluded groups whose key exceeds 32 bits.
 */
static __always_inline bool quick_unwanted(struct task_struct *task)
{
	u32 pid = task->pid;

	return !pid || (task_at(pid)->group ^ quick_key(task)) ==
			       RUNQ_GROUP(RUNQ_SLOT_UNWANTED, RUNQ_SLOW_KEY);
}

/*
 * Returns run_delay of the preempted task @prev, plus the lag of the run queue's clock. The kernel
 * counts the next wait of @prev from the last clock update, too long by the lag. Adding the lag to
 * run_delay makes the computed wait shorter by the lag.
 */
static __always_inline u64 task_delay(struct task_struct *prev, u64 late_ns)
{
	return DELAY_TAG(prev->pid) + prev->sched_info.run_delay + late_ns;
}

/* Counts a wait whose histogram bucket contains a boundary of --le. */
static __noinline int quick_le(void *slot, u64 cpu, u64 wait_ns)
{
	wait_count(slot, cpu % RUNQ_MAX_CPUS, wait_ns);
	return 0;
}

static __always_inline void quick_add(u64 *count)
{
	if (FILLED(RUNQ_FILLED_SHARED))
		__sync_fetch_and_add(count, 1);
	else
		(*count)++;
}

/*
 * Returns the histogram of @cpu in the slot at @point. slot_stripe() does the same for slot
 * pointers of the slow path.
 */
static __always_inline void *quick_stripe(void *point, u64 cpu, u64 size)
{
	u64 stripe = cpu % RUNQ_MAX_STRIPES;

	/*
	 * Without the asm barrier, clang first inverts all bits of @cpu, which takes two
	 * instructions on arm64.
	 */
	asm volatile("" : "+r"(stripe));
	stripe ^= RUNQ_MAX_STRIPES - 1;
	return point + stripe * size + RUNQ_QUICK_TO_CELLS - RUNQ_MAX_STRIPES * size;
}

/*
 * Counts a short wait whose element @at of the table of short waits is not a bucket number: @at has
 * a shift or RUNQ_QUICK_LE (see RUNQ_QUICK_FIRST).
 */
static __always_inline void quick_other(void *point, u64 cpu, u64 wait_ns, u64 at)
{
	u64 shift = at - RUNQ_QUICK_SHIFT;

	if (FILLED(RUNQ_FILLED_STEPS) || at >= RUNQ_QUICK_LE)
		quick_le(point + (RUNQ_QUICK_TO_CELLS - RUNQ_TO_CELLS), cpu, wait_ns);
	else
		quick_add(&((struct runq_hist *)quick_stripe(point, cpu, sizeof(struct runq_hist)))
				   ->count[(shift * HIST_SUB + (wait_ns >> shift)) % HIST_NR]);
}

/* Counts a short wait in the slot at @point. @base is the address of quick_area. */
static __always_inline void quick_count(struct mode mode, void *base, void *point, u64 cpu,
					u64 wait_ns)
{
	const u8 *table = base + RUNQ_QUICK_TO_CELLS - RUNQ_FIRST_CELLS - RUNQ_FIRST_TABLE;
	u64 at = wait_ns / HIST_SUB;

	/* verifiers of old kernels lose the bound of a value reloaded from the stack */
	if (!mode.modern) {
		asm volatile("" : "+r"(at));
		at %= RUNQ_NR_QUICK;
	}
	at = table[at];
	if (unlikely(at >= RUNQ_QUICK_SHIFT)) {
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

/* Wait that the fast path tries to count. */
struct quick_wait {
	struct task_struct *next;
	struct runq_task *entry;
	u64 cpu, clock, late_ns, wait_ns, booked, group;
	void *base, *point; /* base: quick_area; point: base address of the group's slot */
	void *cell; /* address of the CPU's cell in the slot, less RUNQ_QUICK_TO_CELLS bytes */
	struct core_block *core;
	/*
	 * from: start of the wait; ran: task that ran on the core before this switch, as
	 * RUNQ_RAN(). @from and @ran are set only if causes are measured.
	 */
	u64 from, ran;
};

static __always_inline struct runq_cell *quick_cell(const struct quick_wait *w)
{
	return w->cell + RUNQ_QUICK_TO_CELLS;
}

/* Stores the offset of the run queue's clock for the fast path. */
static __always_inline void clock_store(struct runq_cpu *pc, u64 mono, u64 clock, u64 late_ns)
{
	pc->off = mono - clock - late_ns;
	pc->until = mono + QUICK_UNTIL_NS;
	/*
	 * The run queue's clock always lags at a switch from idle to a task, but not at a switch to
	 * idle. Every 16th measured offset is marked invalid at once, so that the next switch to
	 * the idle task measures the offset again.
	 */
	if (!(pc->clock.looks % CLOCK_EPOCH_LOOKS)) {
		pc->off = mono;
		pc->until = 0;
	}
}

/*
 * Measures the clock offset. At every 16th measurement, marks the offset as invalid instead, so
 * that the slow path measures the offset.
 */
static __noinline int clock_look_slow(struct runq_cpu *pc, u64 mono, u64 clock)
{
	if ((pc->clock.looks + 1) % CLOCK_EPOCH_LOOKS)
		clock_store(pc, mono, clock, clock_late(&pc->clock, mono, clock));
	else
		pc->off = mono;
	return 0;
}

/* Measures the offset of the run queue's clock if the last measured offset has expired. */
static __always_inline void clock_look_again(struct runq_cpu *pc, u64 mono, u64 clock)
{
	if (unlikely(mono >= pc->until))
		clock_look_slow(pc, mono, clock);
}

/*
 * Stores the lag of the run queue's clock in @w. Returns false if the clock's offset is unknown or
 * the lag exceeds QUICK_LATE_NS. If @keep is true, quick_late() stores @mono in runq_cpu.mono,
 * which the slow path reads. If @looked is true, clock_look_again() has already renewed an expired
 * offset.
 */
static __always_inline bool quick_late(struct quick_wait *w, u64 mono, bool keep, bool looked)
{
	struct runq_cpu *pc = &w->core->runq;

	if (keep)
		pc->mono = mono;
	if (!looked && unlikely(mono >= pc->until))
		return false;
	mono -= w->clock;
	/*
	 * Without the asm barrier, clang first adds clock and pc->off, which costs a register copy.
	 */
	asm volatile("" : "+r"(mono));
	w->late_ns = mono - pc->off;
	return w->late_ns <= QUICK_LATE_NS;
}

static __always_inline struct runq_task *quick_task(void *tasks, struct task_struct *task)
{
	return OFFSET(tasks, (u64)((u32)task->pid % RUNQ_NR_TASKS) * sizeof(struct runq_task));
}

/*
 * Returns true if the wait is short, the table entry belongs to the task, and the group's slot is
 * in the first chunk.
 */
static __always_inline bool quick_short(struct quick_wait *w, void *tasks, u64 last_ns)
{
	u32 pid = w->next->pid;

	w->entry = quick_task(tasks, w->next);
	w->booked = DELAY_TAG(pid) + w->next->sched_info.run_delay + last_ns;
	w->wait_ns = w->booked - w->entry->delay + w->late_ns;
	/* A negative wait, an unknown start or an entry of another task yields a huge wait_ns. */
	if (unlikely(w->wait_ns >= RUNQ_QUICK_NS))
		return false;
	w->group = w->entry->group;
	return (u32)w->group == (u32)quick_key(w->next);
}

/*
 * Stores the new run_delay of @w->next. The caller calls quick_store_delay() only after all tests
 * of the fast path succeeded. If causes are measured, the old run_delay is read again from the
 * table entry to save a register.
 */
static __always_inline void quick_store_delay(struct mode mode, const struct quick_wait *w)
{
	if (!mode.causes) {
		w->entry->delay = w->booked;
		return;
	}
	barrier();
	w->entry->delay += w->wait_ns - w->late_ns;
}

#define CAUSE_AT(cause) (offsetof(struct runq_cell, cause_ns) + (cause) * sizeof(u64))

/*
 * Variant of cause_of() for a group with a slot. Returns the byte offset of the cause in struct
 * runq_cell.
 */
static __always_inline u64 quick_cause_of(u32 ran, u32 victim)
{
	if (ran == victim)
		return CAUSE_AT(RUNQ_SAME);
	if (ran == RUNQ_WHO_IDLE)
		return CAUSE_AT(RUNQ_IDLE);
	return ran == RUNQ_WHO_KTHREAD ? CAUSE_AT(RUNQ_KTHREAD) : CAUSE_AT(RUNQ_OTHER);
}

/*
 * Returns true if one task ran during the whole wait, and the waiting task was neither throttled by
 * CPU quota nor migrated.
 */
static __always_inline bool quick_one_segment(struct mode mode, struct quick_wait *w, u64 last_ns)
{
	u64 total;

	if (unlikely(w->wait_ns > last_ns + w->late_ns))
		return false;
	if (mode.modern)
		total = ((struct cfs_rq___self *)w->next->se.cfs_rq)->throttled_clock_self_time;
	if ((mode.modern || throttled_total(w->next, &total)) &&
	    unlikely(quick_cell(w)->throttled_quick != total + 1))
		return false;
	w->from = w->clock + w->late_ns - w->wait_ns;
	return w->core->runq.now.start_ns - 1 < w->from;
}

/*
 * Moves the current time segment, which records the running task, to the ring of segments and
 * begins the next segment.
 */
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
 * Adds the time segment of @prev, which was not recorded at the dispatch of @prev, because no task
 * waited. A segment with an unknown task precedes the segment of @prev. Only waits of throttled
 * tasks overlap the unknown segment, because all other waiting tasks were enqueued after the
 * dispatch of @prev.
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
 * Returns true if no task waits: the run queue contains only @next and perhaps @prev. Since Linux
 * 6.12 a task that blocks may stay in the run queue. Returns false at a switch to the idle task.
 */
static __always_inline bool none_waits(struct task_struct *prev, struct task_struct *next)
{
	return next->se.cfs_rq->rq->nr_running - prev->se.on_rq == 1;
}

/*
 * Called if only a sample of the waits is measured, with causes. Returns true if the switch from
 * @prev to @next has no effect on a sampled wait. If @prev blocks and the next wait of @prev is in
 * the sample, stores run_delay of @prev.
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

/* Adds the wait time to the counter of its cause and begins the time segment of the next task. */
static __always_inline void quick_count_cause(struct quick_wait *w)
{
	const u32 ring = (RUNQ_NR_SEGS - 1) * RUNQ_SEG_STEP;
	struct runq_cpu *pc = &w->core->runq;
	u32 slot_ref = w->group >> 32;
	u64 cause = quick_cause_of(pc->now.ran, slot_ref);
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
		slot_ref = RUNQ_WHO_KTHREAD;
	seg_switch(w->core, w->from + w->wait_ns, RUNQ_RAN(slot_ref, w->next->pid));
}

/* Blames the whole wait on the group of the only task that ran during the wait. */
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
 * Handles a switch to the idle task, at which the run queue's clock does not lag. Returns false if
 * the clock offset is a new minimum, which the slow path must store.
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

/*
 * Begins the wait of the preempted task @prev, at a switch where the wait of @next is not counted.
 * If quick_leaves() returns false, the caller takes the slow path.
 */
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
 * Begins the time segment of @next, but does not count the wait of @next, because the filter or the
 * sample excludes that wait. If quick_segment() returns false, the caller takes the slow path.
 */
static __always_inline bool quick_segment(struct mode mode, struct task_struct *prev,
					  struct task_struct *next, enum from from, u64 mono,
					  struct core_block *core)
{
	struct quick_wait w = {.next = next, .core = core};
	u64 queued = next->sched_info.last_queued, learn = queued;
	u32 slot_ref = RUNQ_SLOT_UNWANTED;

	w.clock = quick_clock(mode, next);
	FILLED_AND(learn, RUNQ_FILLED_LEARN);
	/* the test of `learn` also excludes the idle task, whose last_queued is 0 */
	if (from == FROM_SLEEP ? queued == w.clock || !learn : !next->pid || !quick_late(&w, mono, false, false))
		return false;
	if (FILLED(RUNQ_FILLED_SOME) == RUNQ_SOME_SAMPLE) {
		w.entry = task_at(next->pid);
		w.group = w.entry->group;
		if (!queued || (u32)w.group != (u32)quick_key(next))
			return false;
		w.entry->delay = task_delay(next, w.clock - queued);
		slot_ref = w.group >> 32;
	}
	if (from == FROM_TASK)
		task_at(prev->pid)->delay = task_delay(prev, w.late_ns);
	if (next->flags & PF_KTHREAD)
		slot_ref = RUNQ_WHO_KTHREAD;
	seg_switch(core, w.clock + w.late_ns, RUNQ_RAN(slot_ref, next->pid));
	return true;
}

/* Returns true if the filter or the sample excludes the wait of @task. */
static __always_inline bool quick_skips(struct task_struct *task)
{
	u64 some = FILLED(RUNQ_FILLED_SOME);

	if (some == RUNQ_SOME_FILTER)
		return quick_unwanted(task);
	return some == RUNQ_SOME_SAMPLE && !task_sampled(task);
}

/*
 * Fast path of a switch to @next: counts the wait of @next. If quick_switch() returns false, the
 * caller takes the slow path. @mono is unused if @from is FROM_SLEEP. @core is the memory block of
 * @cpu.
 */
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
	/* If quick_switch() fails later, the slow path stores the same delay of @prev again. */
	if (from == FROM_TASK) {
		delay = task_delay(prev, w.late_ns);
		/* The asm barriers keep an instruction order that needs one register less. */
		asm volatile("" : "+r"(delay));
		quick_task(tasks, prev)->delay = delay;
	}
	/*
	 * last_queued is 0 if the start of the wait is unknown or `next` is the idle task. last_ns
	 * is then a huge number.
	 */
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
	if (from == FROM_SLEEP && !mode.causes)
		w.cpu = quick_cpu(mode, w.next);
	if (!mode.causes)
		quick_store_delay(mode, &w);
	w.base = FIXED(quick);
	w.point = OFFSET(w.base, w.group >> 32 & RUNQ_FIRST_MASK);
	w.cell = OFFSET(w.point, w.cpu * sizeof(struct runq_cell));
	if (mode.causes && unlikely(!quick_one_segment(mode, &w, last_ns)))
		return false;
	if (mode.causes)
		quick_store_delay(mode, &w);
	/*
	 * The kernel's run_delay of `next` is too small by the lag of the run queue's clock. After
	 * a preemption, run_delay of `prev` is too large by the lag, so the sum of run_delay is
	 * right.
	 */
	if (from == FROM_IDLE)
		core->runq.missing_ns += w.late_ns;
	if (mode.causes)
		quick_count_cause(&w);
	else
		quick_cell(&w)->cause_ns[RUNQ_WHOLE] += w.wait_ns;
	if (w.wait_ns > quick_cell(&w)->max_ns)
		quick_cell(&w)->max_ns = w.wait_ns;
	quick_count(mode, w.base, w.point, w.cpu, w.wait_ns);
	/* The empty asm keeps clang from merging the ends of copies of quick_switch() by a jump. */
	if (from == FROM_TASK)
		asm volatile("");
	if (mode.causes && FILLED_FLAG(RUNQ_FILLED_BLAME) && w.wait_ns)
		quick_blame(&w);
	return true;
}

#endif
