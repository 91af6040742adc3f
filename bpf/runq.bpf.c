/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Charges every wait for a core to the group of the task that waited, and to what it waited for. */
#include "runq_charge.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * Who runs from now on. Written before the wait is charged, so that nothing of it must be kept
 * until then, and valid once pc->head has moved on.
 */
static __always_inline void seg_write(struct runq_cpu *pc, u64 now, u32 who, u32 pid)
{
	struct runq_seg *seg = &pc->segs[(pc->head + 1) % RUNQ_NR_SEGS];

	seg->start_ns = now;
	seg->who = who;
	seg->pid = pid;
}

static __always_inline bool task_runnable(struct task_struct *task)
{
	if (bpf_core_field_exists(((struct task_struct___new *)0)->__state))
		return !BPF_CORE_READ((struct task_struct___new *)task, __state);
	return !BPF_CORE_READ((struct task_struct___old *)task, state);
}

/* by_wakeup: whoever leaves the core runnable waits from now on. */
static __always_inline void prev_leaves(u64 *ctx, struct task_struct *prev, u64 now)
{
	bool preempt = (bool)ctx[0];
	u32 pid = prev->pid;
	u64 *word;

	if (!pid)
		return;
	word = task_word(pid);
	if (!word)
		return;
	if (preempt || task_runnable(prev))
		*word = TAG_OF(pid) | (now & WORD_MASK);
	else if ((*word & ~WORD_MASK) == TAG_OF(pid))
		*word = 0;
}

/*
 * When the wait of the dispatched task began, and what it waited on other cores before that.
 * False when nobody knows, such as after having lost the core on the way to sleep.
 */
static __always_inline bool wait_start(struct mode mode, struct dispatch *d, u64 *word)
{
	u64 tag = TAG_OF(d->pid), was = *word, booked, moved_ns;

	if (mode.by_wakeup) {
		if ((was & ~WORD_MASK) != tag)
			return false;
		*word = 0;
		d->from = was & WORD_MASK;
		d->wait_ns = d->now - d->from;
		return true;
	}
	d->from = d->next->sched_info.last_queued;
	/* Added, not or'ed: a carry into the tag is in both terms of the difference. */
	booked = tag + d->next->sched_info.run_delay;
	if (rarely(!d->from)) {
		*word = booked;
		return false;
	}
	d->wait_ns = d->now - d->from;
	/* What the kernel will have booked once this dispatch is through. */
	*word = booked + d->wait_ns;
	/* With another tag the difference is far outside what a delay can be. */
	moved_ns = booked - was;
	if (moved_ns <= WORD_MASK / 2)
		d->wait_ns += moved_ns;
	return true;
}

static __always_inline u64 switch_now(struct mode mode, struct task_struct *next)
{
	if (mode.by_wakeup)
		return bpf_ktime_get_ns();
	/* What sched_info is about to subtract from; __schedule() has just updated it. */
	return next->se.cfs_rq->rq->clock;
}

/*
 * All look-ups come first: each is a call to the compiler, if not to the kernel, and once they are
 * made the rest has the registers to itself.
 */
static __always_inline void wait_ends(struct mode mode, struct runq_cpu *pc, struct dispatch *d,
				      u64 cpu)
{
	u64 *word = task_word(d->pid);
	void *slot = slot_fast(d->slot);

	if (mode.sample)
		d->sampled = bpf_get_prandom_u32() < sample_below;
	if (!mode.by_wakeup)
		d->now = switch_now(mode, d->next);
	seg_write(pc, d->now, d->next->flags & PF_KTHREAD ? RUNQ_WHO_KTHREAD : d->slot, d->pid);
	/*
	 * Neither is ever missing, but the verifier cannot know. The core's number is a register of
	 * its own from here on, and of 64 bits: what is read back from the look-up's key, or from 32
	 * bits put aside, has no bounds on 5.10 and 6.1.
	 */
	asm volatile("" : "+r"(cpu));
	if (rarely(!word || !slot || cpu >= layout.cpus)) {
		pc->table_full++;
		return;
	}
	if (rarely(!wait_start(mode, d, word))) {
		pc->unknown_start++;
		return;
	}
	if (rarely(d->now < d->from)) {
		pc->negative++;
		return;
	}
	pc->switches++;
	pc->wait_ns += d->wait_ns;
	pc->from = d->from;
	pc->to = d->now;
	/*
	 * From here on those two are read back. With 64 bytes of stack, newer kernels give the
	 * program a stack of its own, at the price of a longer prologue.
	 */
	barrier();
	wait_charge(mode, pc, d, slot, cpu);
}

static __always_inline int on_switch(struct mode mode, u64 *ctx)
{
	u64 cpu = bpf_get_smp_processor_id();
	u32 index = cpu;
	struct runq_cpu *pc = bpf_map_lookup_elem(&cpus, &index);
	struct dispatch d = {.sampled = true};

	if (rarely(!pc || pc->skip))
		return 0;
	switch_tasks(ctx, mode.state_first, &d.prev, &d.next);
	if (mode.by_wakeup) {
		d.now = switch_now(mode, d.next);
		prev_leaves(ctx, d.prev, d.now);
	}
	d.pid = d.next->pid;
	if (!d.pid) {
		if (!mode.by_wakeup)
			d.now = switch_now(mode, d.next);
		seg_write(pc, d.now, RUNQ_WHO_IDLE, 0);
	} else {
		d.slot = slot_cached(pc, task_key(mode, d.next, cpu), d.next);
		wait_ends(mode, pc, &d, cpu);
	}
	barrier();
	pc->head++;
	return 0;
}

/* These come before those for sched_switch, and so are attached before them: see the start first. */
static __always_inline int task_wakes(struct task_struct *task)
{
	u32 pid = task->pid;
	u64 *word = task_word(pid);

	/* Woken again while it waits: the wait goes on. */
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
	u64 *word = task_word(task->pid);

	if (!word)
		return 0;
	if (!by_wakeup) {
		/* Nothing booked yet: should it be moved before it first runs, that shows. */
		*word = TAG_OF(task->pid);
		return 0;
	}
	/* Whatever is there was left by somebody who had that pid before. */
	*word = 0;
	return task_wakes(task);
}

SEC("tp_btf/sched_switch")
int runq_switch(u64 *ctx)
{
	return on_switch(MODE_ANY, ctx);
}

#define RUNQ_SWITCH(name, ...)                                                             \
	SEC("tp_btf/sched_switch")                                                         \
	int name(u64 *ctx)                                                                 \
	{                                                                                  \
		return on_switch((struct mode){.per = RUNQ_PER_CGROUP, __VA_ARGS__}, ctx); \
	}

RUNQ_SWITCH(runq_switch_v1, .cgroup_v2 = false)
RUNQ_SWITCH(runq_switch_v2, .cgroup_v2 = true)
RUNQ_SWITCH(runq_blame_v1, .cgroup_v2 = false, .blame = true)
RUNQ_SWITCH(runq_blame_v2, .cgroup_v2 = true, .blame = true)

static __always_inline void slot_ends(u64 key)
{
	u32 *slot = bpf_map_lookup_elem(&slot_of, &key);
	struct runq_head *head = slot ? slot_get(*slot) : NULL;

	if (head && head->key == key)
		head->gone = 1;
}

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(runq_rmdir, struct cgroup *cgroup)
{
	struct cgroup_subsys_state **subsys = (void *)&cgroup->subsys, *css;

	if (cgroup_v2)
		css = &cgroup->self;
	else
		css = subsys[bpf_core_enum_value(enum cgroup_subsys_id___core, cpu_cgrp_id___core)];
	if (!css)
		return 0; /* of another hierarchy */
	slot_ends(css->serial_nr);
	return 0;
}

/*
 * What the kernel itself has booked as run delay, to hold our sum against. A task leaves the
 * walk some time after it exits and before it is freed: so it is booked when it exits, and what
 * it waits after that is added where it is found, in the walk or at its end.
 */
static __always_inline u64 *exit_word(struct task_struct *task)
{
	u32 index = (u32)task->pid % RUNQ_NR_EXITS;

	return bpf_map_lookup_elem(&exits, &index);
}

/* What the task has waited since it was booked; books it if that is due. */
static __always_inline u64 exit_rest(struct task_struct *task, u64 *word)
{
	u64 delay = BPF_CORE_READ(task, sched_info.run_delay);

	if ((*word & ~WORD_MASK) == EXIT_TAG(task->pid))
		return delay - (*word & WORD_MASK);
	*word = EXIT_TAG(task->pid) | (delay & WORD_MASK);
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
	u64 *word;

	if (!task)
		return 0;
	/* Its last run delay as of now, if it has not run since the start. */
	word = task_word(task->pid);
	if (!by_wakeup && word && (*word & ~WORD_MASK) != TAG_OF(task->pid))
		*word = TAG_OF(task->pid) | (BPF_CORE_READ(task, sched_info.run_delay) & WORD_MASK);
	/* Also those that exited before the start and are found here for the first time. */
	word = task->flags & PF_EXITING ? exit_word(task) : NULL;
	if (word)
		delay_live_ns += exit_rest(task, word);
	else
		delay_live_ns += BPF_CORE_READ(task, sched_info.run_delay);
	return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(runq_free, struct task_struct *task)
{
	u64 *word = exit_word(task);

	if (word && (*word & ~WORD_MASK) == EXIT_TAG(task->pid)) {
		__sync_fetch_and_add(&delay_exited_ns, exit_rest(task, word));
		*word = 0;
	}
	if (per == RUNQ_PER_TASK)
		slot_ends(task_key(MODE_ANY, task, 0));
	return 0;
}
