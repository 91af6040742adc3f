/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Counts the waits of tasks for a core, by group of the task. Options split each wait by cause and
 * by the group that caused the wait (culprit).
 */
#include "runq_quick.bpf.h"

static __always_inline bool sched_info_there(void)
{
	return bpf_core_field_exists(((struct task_struct *)0)->sched_info) &&
	       bpf_core_field_exists(((struct sched_entity *)0)->cfs_rq);
}

/*
 * Stores run_delay of the previous task. If runq samples without causes, run_delay is stored only
 * if the next wait of the task is in the sample.
 */
static __always_inline void prev_leaves(struct mode mode, struct runq_cpu *pc,
					const struct dispatch *d)
{
	bool sparse = mode.sample && !mode.causes;

	if (!d->prev->pid || (sparse ? !task_sampled(d->prev) : d->leaves_asleep))
		return;
	if (sparse && d->leaves_asleep) {
		task_at(d->prev->pid)->delay = task_delay(d->prev, 0);
		return;
	}
	pc->missing_ns -= d->late_ns;
	task_at(d->prev->pid)->delay = task_delay(d->prev, d->late_ns);
}

/*
 * For source wakeup, stores the start of the wait of a preempted task, even if the task was about
 * to block.
 */
static __always_inline void prev_stamp(bool preempt, const struct dispatch *d)
{
	u32 pid = d->prev->pid;
	u64 *word = pid ? stamp_word(pid) : NULL;

	if (!word)
		return;
	if (!d->leaves_asleep || preempt)
		*word = TAG_OF(pid) | (d->now & WORD_MASK);
	else if ((*word & ~WORD_MASK) == TAG_OF(pid))
		*word = 0;
}

/*
 * Returns the time that the next task waited on other cores: the growth of its run_delay since its
 * last dispatch, without the current wait. delay_moves() stores the run_delay after this dispatch.
 * `booked` and `was` include the tag of their task: if the entry belonged to another task, the
 * difference is too large for a delay.
 */
static __always_inline s64 delay_moves(const struct dispatch *d, u64 last_ns)
{
	u64 booked = DELAY_TAG(d->pid) + d->next->sched_info.run_delay;
	struct runq_task *entry = task_at(d->pid);
	u64 was = entry->delay;

	entry->delay = booked + last_ns;
	return booked - was;
}

/* Sets the start of a wait, and its length on all cores; returns false if the start is unknown. */
static __always_inline bool sched_info_wait(struct runq_cpu *pc, struct dispatch *d)
{
	u64 queued = d->next->sched_info.last_queued;
	s64 moved_ns = delay_moves(d, queued ? d->clock - queued : 0);

	if (unlikely(!queued))
		return false;
	d->from = queued;
	d->wait_ns = d->now - queued;
	pc->missing_ns += d->late_ns;
	if (unlikely(moved_ns < 0)) {
		/*
		 * The task was preempted while the run queue's clock lagged. last_queued is too
		 * early by the lag, -moved_ns.
		 */
		if ((u64)-moved_ns <= CLOCK_JUMP_NS && (s64)d->wait_ns >= -moved_ns) {
			d->from -= moved_ns;
			d->wait_ns += moved_ns;
		}
	} else if ((u64)moved_ns <= WORD_MASK / 2) {
		d->wait_ns += moved_ns;
	}
	return true;
}

static __always_inline bool wakeup_wait(struct runq_cpu *pc, struct dispatch *d)
{
	u64 *stamp = stamp_word(d->pid), was = stamp ? *stamp : 0, queued, last_ns;
	s64 moved_ns;

	if (stamp)
		*stamp = 0;
	d->from = was & WORD_MASK;
	d->wait_ns = d->now - d->from;
	if (sched_info_there()) {
		queued = d->next->sched_info.last_queued;
		last_ns = queued ? d->clock - queued : 0;
		moved_ns = delay_moves(d, last_ns);
		if (moved_ns > 0 && (u64)moved_ns <= WORD_MASK / 2)
			last_ns += moved_ns;
		if ((was & ~WORD_MASK) == TAG_OF(d->pid))
			pc->missing_ns += d->wait_ns - last_ns;
	}
	return (was & ~WORD_MASK) == TAG_OF(d->pid);
}

/*
 * Sets the time of the switch and the lag of the run queue's clock. The run queue's clock gives the
 * time of the switch, because the kernel measures enqueue times by this clock.
 */
static __always_inline void switch_now(struct mode mode, struct runq_cpu *pc, struct dispatch *d)
{
	bool fresh = false;
	u64 queued;

	if (sched_info_there()) {
		d->clock = d->next->se.cfs_rq->rq->clock;
		queued = d->next->sched_info.last_queued;
		/*
		 * If prev blocks, the kernel has just updated the run queue's clock. The kernel
		 * skips the clock update only if a wake-up requested the switch.
		 */
		fresh = !mode.by_wakeup && d->leaves_asleep && queued && queued != d->clock;
	}
	/* When sampling, few waits are counted, so CLOCK_MONOTONIC is read for each wait. */
	if (fresh && (d->next->sched_info.last_queued & RUNQ_LEARN) && !mode.sample) {
		d->now = d->clock;
		return;
	}
	d->now = d->mono;
	if (!sched_info_there())
		return;
	d->late_ns = clock_late(&pc->clock, d->now, d->clock);
	if (!mode.by_wakeup)
		clock_store(pc, d->now, d->clock, d->late_ns);
	/* Just after a clock update, an offset above the minimum is run time of this program. */
	if (fresh)
		d->late_ns = 0;
	if (!mode.by_wakeup)
		d->now = d->clock + d->late_ns;
}

/*
 * Ends the wait of the next task. Map look-ups come first, because each look-up clobbers registers
 * like a function call.
 */
static __always_inline void wait_ends(struct mode mode, struct runq_cpu *pc, struct dispatch *d,
				      u64 cpu)
{
	void *slot;
	bool known;

	/* pc->next is stored before the wait is counted, to free registers */
	if (mode.causes)
		pc->next = (struct runq_seg){.start_ns = d->now,
					     .ran = RUNQ_RAN(d->next->flags & PF_KTHREAD
								     ? RUNQ_WHO_KTHREAD
								     : d->slot_ref,
							     d->pid)};
	if (want_filter && d->slot_ref == RUNQ_SLOT_UNWANTED)
		return;
	slot = slot_get(d->slot_ref);
	/* The verifiers of Linux 5.10 and 6.1 lose the bounds of 32-bit values on the stack. */
	asm volatile("" : "+r"(cpu));
	if (unlikely(!slot || cpu >= layout.cpus)) {
		pc->table_full++;
		return;
	}
	known = mode.by_wakeup ? wakeup_wait(pc, d) : sched_info_wait(pc, d);
	if (unlikely(!known)) {
		pc->unknown_start++;
		return;
	}
	if (unlikely(d->now < d->from)) {
		pc->negative++;
		return;
	}
	pc->switches++;
	/*
	 * Sampled waits in the first chunk are not added to wait_ns; user space reads their time
	 * from the slots.
	 */
	if (unlikely(d->slot_ref >= RUNQ_LATER_CHUNK || !d->sampled))
		pc->wait_ns += d->wait_ns;
	pc->from = d->from;
	pc->to = d->now;
	/*
	 * The barrier makes clang reload values, so that the stack stays below 64 bytes. Newer
	 * kernels add a private stack to programs that use 64 bytes or more.
	 */
	barrier();
	wait_charge(mode, pc, d, slot, cpu);
}

/*
 * Slow path that handles every kind of switch. @mono is CLOCK_MONOTONIC. All callers read
 * CLOCK_MONOTONIC equally soon after the tracepoint, so a clock offset that one caller measures is
 * valid for all callers. @preempt is an argument of sched_switch; only source wakeup uses @preempt.
 */
static __always_inline int switch_all(struct mode mode, struct task_struct *prev,
				      struct task_struct *next, bool preempt, u64 mono)
{
	struct dispatch d = {.prev = prev, .next = next, .sampled = true, .mono = mono};
	u64 cpu = bpf_get_smp_processor_id();
	struct runq_cpu *pc = cpu_at(cpu);

	if (unlikely(pc->skip))
		return 0;
	d.leaves_asleep = !task_runnable(d.prev);
	if (mode.causes)
		pc->segs[pc->head / RUNQ_SEG_STEP % RUNQ_NR_SEGS] = pc->now;
	switch_now(mode, pc, &d);
	if (mode.by_wakeup)
		prev_stamp(preempt, &d);
	else
		prev_leaves(mode, pc, &d);
	d.pid = d.next->pid;
	/* For source wakeup a random number selects whether the wait is in the sample. */
	if (mode.sample)
		d.sampled = mode.by_wakeup ? (u64)bpf_get_prandom_u32() << 32 < sample.below
					   : task_sampled(d.next);
	if (d.pid && (mode.causes || mode.by_wakeup || d.sampled)) {
		d.slot_ref = slot_cached(mode, pc, task_key(mode, d.next, cpu), d.next);
		wait_ends(mode, pc, &d, cpu);
	}
	barrier();
	if (!mode.causes)
		return 0;
	if (!d.pid)
		pc->now = (struct runq_seg){.start_ns = d.now, .ran = RUNQ_RAN(RUNQ_WHO_IDLE, 0)};
	else
		pc->now = pc->next;
	pc->head += RUNQ_SEG_STEP;
	return 0;
}

/* Handles a wake-up. Programs are attached in file order, so this program precedes sched_switch. */
static __always_inline int task_wakes(struct task_struct *task)
{
	u32 pid = task->pid;
	u64 *word = stamp_word(pid);

	/* If a waiting task is woken again, the start of its wait does not change. */
	if (word && (*word & ~WORD_MASK) != TAG_OF(pid))
		*word = TAG_OF(pid) | (bpf_ktime_get_ns() & WORD_MASK);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(runq_wakeup, struct task_struct *task)
{
	return task_wakes(task);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(runq_wakeup_new, struct task_struct *task)
{
	u64 *word;

	/* A new task has a run_delay of 0, which grows if the task migrates before it runs. */
	task_at(task->pid)->delay = DELAY_TAG(task->pid);
	if (!by_wakeup)
		return 0;
	/* The start stored for this pid may belong to an earlier task. */
	word = stamp_word(task->pid);
	if (word)
		*word = 0;
	return task_wakes(task);
}

/*
 * Slow path of the programs with a fast path, which count waits by cgroup with --source sched_info.
 */
static __noinline int slow_plain(struct task_struct *prev, struct task_struct *next, u64 mono)
{
	return switch_all((struct mode){.cgroup_v2 = cgroup_v2, .sample = want_sample}, prev, next, false,
			  mono);
}

static __noinline int slow_causes(struct task_struct *prev, struct task_struct *next, u64 mono)
{
	return switch_all((struct mode){.cgroup_v2 = cgroup_v2, .causes = true, .blame = want_blame,
					.sample = want_sample},
			  prev, next, false, mono);
}

static __always_inline int slow_switch(struct mode mode, struct task_struct *prev,
				       struct task_struct *next, u64 mono)
{
	return mode.causes ? slow_causes(prev, next, mono) : slow_plain(prev, next, mono);
}

/* Slow path if prev was preempted. The fast path has stored CLOCK_MONOTONIC in runq_cpu.mono. */
static __noinline int slow_preempted_plain(struct task_struct *prev, struct task_struct *next)
{
	return slow_plain(prev, next, cpu_at(bpf_get_smp_processor_id())->mono);
}

/* Slow path if prev has blocked. The fast path handles most switches to idle. */
static __always_inline int slow_blocked(bool causes, struct task_struct *prev, struct task_struct *next)
{
	bool modern = bpf_core_field_exists(((struct cfs_rq___self *)0)->throttled_clock_self_time);
	struct mode mode = {.causes = causes, .modern = modern};
	u64 mono = bpf_ktime_get_ns();

	if (!next->pid && quick_to_idle(mode, prev, core_at(task_cpu(next)), mono))
		return 0;
	return slow_switch(mode, prev, next, mono);
}

static __noinline int slow_blocked_plain(struct task_struct *prev, struct task_struct *next)
{
	return slow_blocked(false, prev, next);
}

static __noinline int slow_blocked_causes(struct task_struct *prev, struct task_struct *next)
{
	return slow_blocked(true, prev, next);
}

/* General program, used if no specialised program exists for the options. */
SEC("tp_btf/sched_switch")
int runq_general(u64 *ctx)
{
	struct mode mode = MODE_ANY;
	struct task_struct *prev, *next;

	if (FILLED(CORE_FILLED_LOAD))
		switch_load(ctx);
	switch_tasks(ctx, mode.state_first, &prev, &next);
	return switch_all(mode, prev, next, ctx[0], bpf_ktime_get_ns());
}

/*
 * Functions of the program runq_some, which counts filtered or sampled waits without causes. At
 * most switches, no counted wait begins or ends.
 */
#define RUNQ_SELECTION(name, ...)                                                                \
	static __noinline int name##_asleep(struct task_struct *prev, struct task_struct *next)  \
	{                                                                                        \
		const struct mode mode = {.some = true, __VA_ARGS__};                            \
                                                                                                 \
		if (!task_ran_or_sampled(next) ||                                                \
		    quick_switch(mode, prev, next, FROM_SLEEP, 0, 0, NULL))                      \
			return 0;                                                                \
		return slow_plain(prev, next, bpf_ktime_get_ns());                               \
	}                                                                                        \
                                                                                                 \
	static __noinline int name##_awake(struct task_struct *prev, struct task_struct *next,   \
					   bool counts)                                          \
	{                                                                                        \
		const struct mode mode = {.some = true, __VA_ARGS__};                            \
		u64 mono, cpu;                                                                   \
		struct core_block *core;                                                         \
                                                                                                 \
		if (!task_ran_or_sampled(next)) {                                                \
			if (!prev->pid)                                                          \
				return 0;                                                        \
			counts = false;                                                          \
		}                                                                                \
		mono = bpf_ktime_get_ns();                                                       \
		cpu = quick_cpu(mode, next);                                                     \
		core = core_masked(cpu);                                                         \
		if (!counts	? quick_leaves(mode, prev, next, mono)                           \
		    : prev->pid ? quick_switch(mode, prev, next, FROM_TASK, mono, cpu, core)     \
				: quick_switch(mode, prev, next, FROM_IDLE, mono, cpu, core))    \
			return 0;                                                                \
		return slow_plain(prev, next, mono);                                             \
	}                                                                                        \
                                                                                                 \
	static __always_inline int name##_switch(u64 *ctx, bool by_sample)                       \
	{                                                                                        \
		const struct mode mode = {.some = true, __VA_ARGS__};                            \
		struct task_struct *prev, *next;                                                 \
                                                                                                 \
		switch_tasks(ctx, false, &prev, &next);                                          \
		if (by_sample ? !task_is_sampled(next)                                           \
			      : quick_unwanted(next) &&                                          \
					(!quick_runnable(mode, prev) || quick_unwanted(prev))) { \
			if (!by_sample || !task_is_sampled(prev))                                \
				return 0;                                                        \
			if (quick_runnable(mode, prev))                                          \
				return name##_awake(prev, next, false);                          \
			task_at(prev->pid)->delay = task_delay(prev, 0);                         \
			return 0;                                                                \
		}                                                                                \
		if (quick_runnable(mode, prev))                                                  \
			return name##_awake(prev, next, true);                                   \
		if (by_sample && task_is_sampled(prev))                                          \
			task_at(prev->pid)->delay = task_delay(prev, 0);                         \
		return name##_asleep(prev, next);                                                \
	}

RUNQ_SELECTION(some, .modern = true)
RUNQ_SELECTION(some_old, .modern = false)

static __always_inline int some_any_switch(u64 *ctx, u64 gate)
{
	if (gate == RUNQ_GATE_SAMPLE)
		return some_switch(ctx, true);
	if (gate == RUNQ_GATE_FILTER)
		return some_switch(ctx, false);
	return some_old_switch(ctx, gate == RUNQ_GATE_SAMPLE_OLD);
}

/* Not inlined: inlined, the program runq_some would need another register for @ctx. */
static __noinline int some_with_load(u64 *ctx)
{
	switch_load(ctx);
	return some_any_switch(ctx, FILLED(RUNQ_FILLED_GATE) - RUNQ_GATE_LOAD);
}

/* One number selects the variant, because one flag per option would cost more instructions. */
SEC("tp_btf/sched_switch")
int runq_some(u64 *ctx)
{
	u64 gate = FILLED(RUNQ_FILLED_GATE);

	if (gate < RUNQ_GATE_LOAD)
		return some_any_switch(ctx, gate);
	return some_with_load(ctx);
}

/*
 * Programs on sched_switch that count all waits by cgroup. The fast path is compiled three times:
 * for a previous task that blocks, for a preempted task, and for the idle task. Switches that end
 * an interval of load have separate functions, which read the clock once for load and runq.
 */
#define RUNQ_SWITCH(name, ...)                                                                    \
	static __noinline int name##_to_idle(struct task_struct *prev, struct task_struct *next)  \
	{                                                                                         \
		const struct mode mode = {__VA_ARGS__};                                           \
		u64 mono = bpf_ktime_get_ns();                                                    \
		struct core_block *core = core_masked(quick_cpu(mode, next));                     \
                                                                                                  \
		switch_to_idle(&core->load, prev, next, mono);                                    \
		/* A task that CPU quota throttles is runnable. */                                \
		if (!quick_runnable(mode, prev) && quick_to_idle(mode, prev, core, mono))         \
			return 0;                                                                 \
		return slow_switch(mode, prev, next, mono);                                       \
	}                                                                                         \
                                                                                                  \
	static __noinline int name##_idle(struct task_struct *prev, struct task_struct *next)     \
	{                                                                                         \
		const struct mode mode = {__VA_ARGS__};                                           \
		u64 mono = bpf_ktime_get_ns(), cpu = quick_cpu(mode, next);                       \
		struct core_block *core = core_masked(cpu);                                       \
                                                                                                  \
		if (FILLED_FLAG(CORE_FILLED_LOAD))                                                \
			switch_to_task(&core->load, prev, next, mono);                            \
		clock_look_again(&core->runq, mono, quick_clock(mode, next));                     \
		if (quick_switch(mode, prev, next, FROM_IDLE, mono, cpu, core))                   \
			return 0;                                                                 \
		return slow_switch(mode, prev, next, mono);                                       \
	}                                                                                         \
                                                                                                  \
	static __noinline int name##_late(struct task_struct *prev, struct task_struct *next)     \
	{                                                                                         \
		const struct mode mode = {__VA_ARGS__};                                           \
		u64 mono = bpf_ktime_get_ns(), cpu = quick_cpu(mode, next);                       \
		struct core_block *core = core_masked(cpu);                                       \
                                                                                                  \
		clock_look_again(&core->runq, mono, quick_clock(mode, next));                     \
		if (quick_switch(mode, prev, next, FROM_TASK, mono, cpu, core))                   \
			return 0;                                                                 \
		return slow_switch(mode, prev, next, mono);                                       \
	}                                                                                         \
                                                                                                  \
	static __always_inline int name##_any(struct task_struct *prev, struct task_struct *next, \
					      u64 cpu, struct core_block *core)                   \
	{                                                                                         \
		const struct mode mode = {__VA_ARGS__};                                           \
		struct task_struct *volatile stack;                                               \
                                                                                                  \
		if (!quick_runnable(mode, prev)) {                                                \
			/* With causes, prev is saved on the stack, to free a register. */        \
			if (mode.causes)                                                          \
				stack = prev;                                                     \
			if (quick_switch(mode, prev, next, FROM_SLEEP, 0, cpu, core))             \
				return 0;                                                         \
			return mode.causes ? slow_blocked_causes(stack, next)                     \
					   : slow_blocked_plain(prev, next);                      \
		}                                                                                 \
		if (!prev->pid)                                                                   \
			return name##_idle(prev, next);                                           \
		if (!quick_one_function(mode))                                                    \
			return name##_late(prev, next);                                           \
		cpu = quick_cpu(mode, next);                                                      \
		core = core_masked(cpu);                                                          \
		if (quick_switch(mode, prev, next, FROM_TASK, bpf_ktime_get_ns(), cpu, core))     \
			return 0;                                                                 \
		return slow_preempted_plain(prev, next);                                          \
	}                                                                                         \
                                                                                                  \
	/* Handles each switch that may affect a sampled wait or end an interval of load. */      \
	static __noinline int name##_sampled(struct task_struct *prev, struct task_struct *next)  \
	{                                                                                         \
		const struct mode mode = {__VA_ARGS__};                                           \
		const struct runq_sample s = sample;                                              \
		u64 cpu = quick_cpu(mode, next);                                                  \
		struct core_block *core = core_masked(cpu);                                       \
                                                                                                  \
		if (FILLED_FLAG(CORE_FILLED_LOAD) && !SWITCH_GOES_ON(&core->load, prev, next)) {  \
			switch_ends(&core->load, prev, next, bpf_ktime_get_ns());                 \
			if (sample_skips(mode, prev, next, &s))                                   \
				return 0;                                                         \
		}                                                                                 \
		if (hash_low(prev->se.sum_exec_runtime, &s) && prev->pid &&                       \
		    !quick_runnable(mode, prev))                                                  \
			task_at(prev->pid)->delay = task_delay(prev, 0);                          \
		/* runq.until is 0 if the offset of the run queue's clock is unknown. */          \
		if (!next->pid && !quick_runnable(mode, prev) && core->runq.until) {              \
			/* No task waits. A throttled wait may overlap older time segments. */    \
			if (core->runq.now.start_ns < prev->sched_info.last_arrival)              \
				core->runq.now.start_ns = 0;                                      \
			seg_switch(core, quick_clock(mode, prev), RUNQ_RAN(RUNQ_WHO_IDLE, 0));    \
			return 0;                                                                 \
		}                                                                                 \
		seg_sync(core, prev);                                                             \
		return name##_any(prev, next, cpu, core);                                         \
	}                                                                                         \
                                                                                                  \
	/* Used only with load: switches to kernel threads, and rare switches. */                 \
	static __noinline int name##_edge(struct task_struct *prev, struct task_struct *next)     \
	{                                                                                         \
		const struct mode mode = {__VA_ARGS__};                                           \
		u64 cpu = quick_cpu(mode, next);                                                  \
		struct core_block *core = core_masked(cpu);                                       \
                                                                                                  \
		switch_to_task(&core->load, prev, next, bpf_ktime_get_ns());                      \
		return name##_any(prev, next, cpu, core);                                         \
	}                                                                                         \
                                                                                                  \
	static __always_inline int name##_switch(u64 *ctx)                                        \
	{                                                                                         \
		const struct mode mode = {__VA_ARGS__};                                           \
		struct task_struct *prev, *next;                                                  \
		struct core_block *core = NULL;                                                   \
		u64 cpu = 0;                                                                      \
                                                                                                  \
		switch_tasks(ctx, false, &prev, &next);                                           \
		if (mode.causes && FILLED(RUNQ_FILLED_SOME) == RUNQ_SOME_SAMPLE) {                \
			const struct runq_sample s = sample;                                      \
                                                                                                  \
			if ((!FILLED_FLAG(CORE_FILLED_LOAD) ||                                    \
			     SWITCH_GOES_ON(&core_masked(quick_cpu(mode, next))->load, prev,      \
					    next)) &&                                             \
			    sample_skips(mode, prev, next, &s))                                   \
				return 0;                                                         \
			return name##_sampled(prev, next);                                        \
		}                                                                                 \
		if (mode.causes || FILLED(CORE_FILLED_LOAD)) {                                    \
			cpu = quick_cpu(mode, next);                                              \
			core = core_masked(cpu);                                                  \
		}                                                                                 \
		if (!FILLED_FLAG(CORE_FILLED_LOAD) || SWITCH_GOES_ON(&core->load, prev, next))    \
			return name##_any(prev, next, cpu, core);                                 \
		if (!next->pid)                                                                   \
			return name##_to_idle(prev, next);                                        \
		return prev->pid ? name##_edge(prev, next) : name##_idle(prev, next);             \
	}

RUNQ_SWITCH(plain, .modern = true)
RUNQ_SWITCH(plain_old, .modern = false)
RUNQ_SWITCH(causes, .modern = true, .causes = true)
RUNQ_SWITCH(causes_old, .causes = true)

/* Not inlined: clang would merge parts of plain_old_switch() and plain_switch() by jumps. */
static __noinline int plain_old(u64 *ctx)
{
	return plain_old_switch(ctx);
}

SEC("tp_btf/sched_switch")
int runq_plain(u64 *ctx)
{
	return FILLED_FLAG(RUNQ_FILLED_OLD) ? plain_old(ctx) : plain_switch(ctx);
}

/* Counts causes and blame. Calls are inlined, because a call chain has at most 8 functions. */
SEC("tp_btf/sched_switch")
int runq_causes(u64 *ctx)
{
	return FILLED_FLAG(RUNQ_FILLED_OLD) ? causes_old_switch(ctx) : causes_switch(ctx);
}

static __always_inline void slot_ends(u64 key)
{
	u32 *slot = bpf_map_lookup_elem(&slot_of, &key);
	void *books = slot ? slot_get(slot_ref_of(*slot)) : NULL;

	if (books && slot_head(books)->key == key) {
		slot_head(books)->gone = 1;
		__sync_fetch_and_add(&slot_changes, 1);
	}
}

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(runq_rmdir, struct cgroup *cgroup)
{
	struct cgroup_subsys_state *css = cgroup_css(cgroup, cgroup_v2);

	if (!css)
		return 0; /* the cgroup is in a hierarchy that runq does not measure */
	slot_ends(css->serial_nr);
	return 0;
}

/*
 * True if the table has no delay of a task. @delay is the stored value minus the tag of the task.
 */
static __always_inline bool delay_foreign(u64 delay)
{
	return delay > WORD_MASK;
}

/*
 * runq_exit, runq_delays and runq_free sum run_delay of all tasks, for comparison with all waits.
 * run_delay is added when a task exits, because the iterator misses some tasks between exit and
 * release. Growth of run_delay after the exit event is added by runq_delays or runq_free.
 */
static __always_inline u64 *exit_word(struct task_struct *task)
{
	u32 index = (u32)task->pid % RUNQ_NR_EXITS;

	return bpf_map_lookup_elem(&exits, &index);
}

/*
 * Returns the growth of run_delay since the exit of the task was recorded, and records the exit if
 * necessary. If a zombie already uses the table element, the exit of @task is not recorded, and
 * @task counts as alive.
 */
static __always_inline u64 exit_rest(struct task_struct *task, u64 *word)
{
	u64 delay = BPF_CORE_READ(task, sched_info.run_delay);

	if ((*word & ~EXIT_MASK) == EXIT_TAG(task->pid))
		return delay - (*word & EXIT_MASK);
	if (*word)
		return delay;
	*word = EXIT_TAG(task->pid) | (delay & EXIT_MASK);
	__sync_fetch_and_add(&delay_exited_ns, delay);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(runq_exit, struct task_struct *task)
{
	u64 *word = exit_word(task);

	if (word)
		exit_rest(task, word);
	return 0;
}

SEC("iter/task")
int runq_delays(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct runq_task *entry;
	u64 *word;

	if (!task)
		return 0;
	/* If the task has not run since the start, its current run_delay is stored in its entry. */
	entry = task_at(task->pid);
	if (delay_foreign(entry->delay - DELAY_TAG(task->pid)))
		entry->delay = DELAY_TAG(task->pid) + BPF_CORE_READ(task, sched_info.run_delay);
	word = task->flags & PF_EXITING ? exit_word(task) : NULL;
	delay_live_ns += word ? exit_rest(task, word) : BPF_CORE_READ(task, sched_info.run_delay);
	return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(runq_free, struct task_struct *task)
{
	u64 *word = exit_word(task);

	if (word && (*word & ~EXIT_MASK) == EXIT_TAG(task->pid)) {
		__sync_fetch_and_add(&delay_exited_ns, exit_rest(task, word));
		*word = 0;
	} else if (!delay_foreign(task_at(task->pid)->delay - DELAY_TAG(task->pid))) {
		/*
		 * The exit was not recorded. The task has a table entry, so delay_live_ns contained
		 * its run_delay.
		 */
		__sync_fetch_and_add(&delay_exited_ns, BPF_CORE_READ(task, sched_info.run_delay));
	}
	if (per == RUNQ_PER_TASK)
		slot_ends(task_key(MODE_ANY, task, 0));
	return 0;
}
