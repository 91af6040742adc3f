/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Charges every wait for a core to the group of the task that waited, and to what it waited for. */
#include "runq_slots.bpf.h"
#include "hist.bpf.h"
#include "runq_walk.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * Global functions, from here on where marked so, are verified on their own: once, not on every
 * way that leads to them. They take numbers only, as kernels before 5.12 know no others.
 */
__noinline int blame_add(u64 victim, u64 culprit, u64 ns, u32 cpu)
{
	struct runq_pair pair = {.victim = victim, .culprit = culprit};
	struct runq_charge *charge = bpf_map_lookup_elem(&blame, &pair);

	if (!charge) {
		struct runq_charge none = {};

		bpf_map_update_elem(&blame, &pair, &none, BPF_NOEXIST);
		charge = bpf_map_lookup_elem(&blame, &pair);
	}
	if (!charge) {
		struct runq_cpu *pc = bpf_map_lookup_elem(&cpus, &cpu);

		/* Laid in by user space, so that it is there when nothing else fits. */
		if (pc)
			pc->blame_full++;
		pair.victim = pair.culprit = RUNQ_KEY_OTHER;
		charge = bpf_map_lookup_elem(&blame, &pair);
	}
	if (!charge)
		return 0;
	__sync_fetch_and_add(&charge->wait_ns, ns);
	__sync_fetch_and_add(&charge->count, 1);
	return 0;
}

static __always_inline u64 key_of(u32 who)
{
	struct runq_head *head;

	if (who >= RUNQ_WHO_QUOTA)
		return (u64)(s64)(s32)who;
	head = who ? slot_get(who) : NULL;
	return head ? head->key : RUNQ_KEY_OTHER;
}

/* Global: else each way through one step is verified again for each way through the next. */
__noinline int walk_back(u32 cpu, u32 at)
{
	struct runq_cpu *pc = bpf_map_lookup_elem(&cpus, &cpu);

	return pc && walk_step(pc, at, cpu);
}

/* Global. */
__noinline int wait_walk(u32 cpu)
{
	struct runq_cpu *pc = bpf_map_lookup_elem(&cpus, &cpu);

	if (pc)
		walk_all(pc, cpu);
	return 0;
}

static __noinline int event_wait(struct runq_cpu *pc, u64 wait_ns, struct task_struct *prev,
				 struct task_struct *next)
{
	struct runq_event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);

	if (!event) {
		pc->events_lost++;
		return 0;
	}
	event->kind = RUNQ_EVENT_WAIT;
	event->cpu = bpf_get_smp_processor_id();
	event->key = pc->walk.key;
	event->wait_ns = wait_ns;
	event->culprit = pc->walk.culprit_ns ? key_of(pc->walk.culprit) : 0;
	event->culprit_ns = pc->walk.culprit_ns;
	event->time_ns = bpf_ktime_get_ns();
	event->pid = next->pid;
	event->tgid = next->tgid;
	event->prev_pid = prev->pid;
	event->pad = 0;
	bpf_probe_read_kernel(event->comm, sizeof(event->comm), next->comm);
	bpf_probe_read_kernel(event->prev_comm, sizeof(event->prev_comm), prev->comm);
	bpf_ringbuf_submit(event, 0);
	return 0;
}

/* How long the kernel has held this group on this core so far, by the best clock it has. */
static __always_inline bool held_clock(struct cfs_rq *cfs_rq, u64 *ret_ns)
{
	if (bpf_core_field_exists(((struct cfs_rq___self *)0)->throttled_clock_self_time))
		*ret_ns = ((struct cfs_rq___self *)cfs_rq)->throttled_clock_self_time;
	else if (bpf_core_field_exists(((struct cfs_rq___pelt *)0)->throttled_clock_pelt_time))
		*ret_ns = ((struct cfs_rq___pelt *)cfs_rq)->throttled_clock_pelt_time;
	else if (bpf_core_field_exists(((struct cfs_rq___task *)0)->throttled_clock_task_time))
		*ret_ns = ((struct cfs_rq___task *)cfs_rq)->throttled_clock_task_time;
	else
		return false;
	return true;
}

/*
 * The total moves when the hold ends, and the first dispatch after it sees that. So the hold
 * lies before that dispatch by no more than the time the dispatched task still queued for.
 * Returns whether the last hold reaches into the wait.
 */
static __always_inline bool wait_held(struct mode mode, struct runq_cell *cell,
				      struct runq_cold *cold, struct task_struct *next, u64 from,
				      u64 now)
{
	u64 total;

	if (mode.per != RUNQ_PER_CGROUP ||
	    !bpf_core_field_exists(((struct sched_entity *)0)->cfs_rq) ||
	    !held_clock(next->se.cfs_rq, &total))
		return false;
	total++;
	if (cell->held_clock != total) {
		if (cell->held_clock) {
			cold->held_ns = total - cell->held_clock;
			cell->held_end = now;
		}
		cell->held_clock = total;
	}
	return cell->held_end > from;
}

/* Where in the wait it was held. */
static __always_inline void wait_hold(const struct runq_cell *cell, const struct runq_cold *cold,
				      struct runq_walk *w)
{
	w->held_to = cell->held_end;
	w->held_from = w->held_to - cold->held_ns;
	if (w->held_from < w->from || w->held_from > w->held_to)
		w->held_from = w->from;
}

/* Constants to the verifier, read once: each reading is a load and half a dozen instructions. */
struct layout {
	u32 cpus, stripes;
};

static __always_inline void hist_count(void *slot, struct layout layout, u32 cpu, u64 wait_ns)
{
	u32 bucket = hist_bucket(wait_ns) % HIST_NR, le;
	struct runq_hist *hist;

	hist = slot + sizeof(struct runq_head) + (cpu & (layout.stripes - 1)) * sizeof(*hist);
	if (layout.stripes >= layout.cpus)
		hist->count[bucket]++;
	else
		__sync_fetch_and_add(&hist->count[bucket], 1);
	le = le_in[bucket];
	if (!le || wait_ns > le_ns[(le - 1) % RUNQ_NR_LE])
		return;
	if (layout.stripes >= layout.cpus)
		hist->below[(le - 1) % RUNQ_NR_LE]++;
	else
		__sync_fetch_and_add(&hist->below[(le - 1) % RUNQ_NR_LE], 1);
}

struct dispatch {
	u64 key, pid, from, now, moved_ns;
	struct task_struct *prev, *next;
	u32 cpu, slot;
};

/* Most waits lie inside the last segment, and most of the others begin with it. */
static __always_inline bool one_segment(const struct runq_cpu *pc, const struct dispatch *d,
					u32 *ret_cause)
{
	u32 head = pc->head;
	const struct runq_seg *last = &pc->segs[head % RUNQ_NR_SEGS];

	if (last->start_ns > d->from || !last->start_ns)
		return false;
	*ret_cause = cause_of(last->who, d->slot);
	if (last->start_ns == d->from && pc->segs[(head - 1) % RUNQ_NR_SEGS].pid == d->pid)
		*ret_cause = RUNQ_PREEMPTED;
	return true;
}

static __always_inline void walk_begin(struct runq_cpu *pc, const struct runq_cell *cell,
				       const struct runq_cold *cold, const struct dispatch *d,
				       bool held)
{
	struct runq_walk *w = &pc->walk;

	w->key = d->key;
	w->slot = d->slot;
	w->pid = d->pid;
	w->from = d->from;
	w->to = d->now;
	w->moved_ns = d->moved_ns;
	w->held_from = w->held_to = 0;
	if (held)
		wait_hold(cell, cold, w);
}

static __always_inline void wait_charge(struct mode mode, struct runq_cpu *pc,
					const struct dispatch *d)
{
	u64 wait_ns = d->now - d->from + d->moved_ns;
	bool sampled = !mode.sample || bpf_get_prandom_u32() < sample_below;
	bool is_long = mode.threshold && wait_ns >= threshold_ns, held;
	struct layout layout = {.cpus = nr_cpus, .stripes = nr_stripes};
	struct runq_cell *cell;
	struct runq_cold *cold;
	void *slot;
	u32 cause;

	pc->switches++;
	pc->wait_ns += wait_ns;
	if (!sampled && !is_long)
		return;
	slot = slot_get(d->slot);
	if (!slot || d->cpu >= layout.cpus)
		return;
	cell = slot + RUNQ_CELLS(layout.stripes) + d->cpu * sizeof(*cell);
	cold = slot + RUNQ_COLDS(layout.stripes, layout.cpus) + d->cpu * sizeof(*cold);
	held = wait_held(mode, cell, cold, d->next, d->from, d->now);
	if (sampled) {
		hist_count(slot, layout, d->cpu, wait_ns);
		if (wait_ns > cell->max_ns)
			cell->max_ns = wait_ns;
	}
	if (!mode.blame && !is_long && !held && !d->moved_ns && one_segment(pc, d, &cause)) {
		if (cause < RUNQ_NR_HOT)
			cell->cause_ns[cause] += wait_ns;
		return;
	}
	walk_begin(pc, cell, cold, d, held);
	/* A long wait that is not in the sample is for the stream, not for the books. */
	if (is_long && !sampled)
		pc->walk.key = 0;
	wait_walk(d->cpu);
	for (int i = 0; sampled && i < RUNQ_NR_CAUSES; i++) {
		if (i < RUNQ_NR_HOT)
			cell->cause_ns[i] += pc->walk.cause_ns[i];
		else
			cold->cause_ns[i - RUNQ_NR_HOT] += pc->walk.cause_ns[i];
	}
	if (is_long) {
		pc->walk.key = d->key;
		event_wait(pc, wait_ns, d->prev, d->next);
	}
}

static __always_inline void seg_begin(struct runq_cpu *pc, u64 now, u32 who, u32 pid)
{
	u32 head = pc->head + 1;
	struct runq_seg *seg = &pc->segs[head % RUNQ_NR_SEGS];

	seg->start_ns = now;
	seg->who = who;
	seg->pid = pid;
	pc->head = head;
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
 * When the wait of @next began, and what it waited on other cores before that. False when nobody
 * knows, such as after having lost the core on the way to sleep.
 */
static __always_inline bool wait_start(struct mode mode, struct task_struct *next, u32 pid, u64 now,
				       u64 *ret_from, u64 *ret_moved_ns)
{
	u64 *word = task_word(pid), tag = TAG_OF(pid), was, from, delay, moved_ns;

	if (!word)
		return false;
	was = *word;
	if (mode.by_wakeup) {
		if ((was & ~WORD_MASK) != tag)
			return false;
		*word = 0;
		*ret_from = was & WORD_MASK;
		return true;
	}
	from = next->sched_info.last_queued;
	delay = next->sched_info.run_delay;
	/* What the kernel will have booked once this dispatch is through. */
	*word = tag | ((delay + (from ? now - from : 0)) & WORD_MASK);
	/* The tag is the same, or the difference is far outside what a delay can be. */
	moved_ns = (tag | (delay & WORD_MASK)) - was;
	*ret_moved_ns = moved_ns >> 63 || moved_ns > WORD_MASK / 2 ? 0 : moved_ns;
	*ret_from = from;
	return from;
}

static __always_inline u64 switch_now(struct mode mode, struct task_struct *next)
{
	if (mode.by_wakeup)
		return bpf_ktime_get_ns();
	/* What sched_info is about to subtract from; __schedule() has just updated it. */
	return next->se.cfs_rq->rq->clock;
}

static __always_inline int on_switch(struct mode mode, u64 *ctx)
{
	struct dispatch d = {.cpu = bpf_get_smp_processor_id()};
	struct runq_cpu *pc = bpf_map_lookup_elem(&cpus, &d.cpu);
	u64 cached;

	if (!pc || pc->skip)
		return 0;
	switch_tasks(ctx, switch_state_first, &d.prev, &d.next);
	d.now = switch_now(mode, d.next);
	if (mode.by_wakeup)
		prev_leaves(ctx, d.prev, d.now);
	d.pid = (u32)d.next->pid;
	if (!d.pid) {
		seg_begin(pc, d.now, RUNQ_WHO_IDLE, 0);
		return 0;
	}
	d.key = task_key(mode, d.next, d.cpu);
	cached = pc->cache[d.key % RUNQ_NR_CACHE].key;
	d.slot = pc->cache[d.key % RUNQ_NR_CACHE].slot;
	if (cached != d.key)
		d.slot = slot_find(pc, d.key, d.next);
	if (!wait_start(mode, d.next, d.pid, d.now, &d.from, &d.moved_ns)) {
		pc->unknown_start++;
	} else if (d.now < d.from) {
		pc->negative++;
	} else {
		wait_charge(mode, pc, &d);
	}
	seg_begin(pc, d.now, d.next->flags & PF_KTHREAD ? RUNQ_WHO_KTHREAD : d.slot, d.pid);
	return 0;
}

SEC("tp_btf/sched_switch")
int runq_switch(u64 *ctx)
{
	return on_switch(MODE_ANY, ctx);
}

SEC("tp_btf/sched_switch")
int runq_switch_v1(u64 *ctx)
{
	return on_switch((struct mode){.per = RUNQ_PER_CGROUP}, ctx);
}

SEC("tp_btf/sched_switch")
int runq_switch_v2(u64 *ctx)
{
	return on_switch((struct mode){.per = RUNQ_PER_CGROUP, .cgroup_v2 = true}, ctx);
}

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
