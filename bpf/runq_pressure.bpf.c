/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Adds up the wall time in which at least one task of a cgroup, or of those below it, waits for a
 * core, and that in which none of them runs either.
 *
 * A task is asleep, waits or runs. It changes at a wake-up and at a switch, under the lock of its run
 * queue. Each change adds to the counts of its cgroup; if the cgroup becomes something else by that,
 * to those of all above. Whoever makes a count leave 0 or return to it adds a stamp to a sum of stamps.
 * All of these are single atomic operations, so that cores need no lock and none of them is lost.
 */
#include "task.bpf.h"
#include "map.bpf.h"
#include "abi/runq_pressure.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading. */
const volatile bool cgroup_v2;
const volatile bool switch_state_first;

/* Groups by number, starting at 1; 0 is invalid. */
struct runq_pressure_group groups[RUNQ_PRESSURE_NR];
__u64 last_group; /* the number that was given last, or more if they were used up */
/* State of a task, by pid. Two tasks may share an entry: the later one owns it. */
__u64 tasks[RUNQ_PRESSURE_TASKS];
/* Per CPU: the cause charged to a task enqueued now; 0 before the first switch. */
__u8 cores[RUNQ_PRESSURE_CPUS];
__u64 full;    /* tasks that were not counted because their cgroup got no number */
__u64 shared;  /* tasks that lost their entry to another one */
__u64 crowded; /* changes at which a count was close to overflow */

MAP(group_of, HASH, 0, RUNQ_PRESSURE_NR, u64, u32);

/* Numbers of groups that ended; user space adds them. */
QUEUE(free_groups, QUEUE, RUNQ_PRESSURE_NR, u32);

/* A cgroup and those above it while they get their numbers. */
struct chain {
	u64 css[RUNQ_PRESSURE_DEPTH];
};

enum {
	CHAIN_OF_SWITCH,
	CHAIN_OF_WALK, /* the walk over all tasks can be interrupted by the other programs */
	NR_CHAINS,
};

MAP(chains, PERCPU_ARRAY, 0, NR_CHAINS, u32, struct chain);

/* A task, its group and where it counts there, as one word. */
#define TASK_WORD(pid, group, at) ((u64)(pid) << 32 | (group) << 8 | (at))
#define TASK_PID(word)		  ((u32)((word) >> 32))
#define TASK_GROUP(word)	  ((u32)(word) >> 8)
#define TASK_AT(word)		  ((u8)(word))

/* Increment of a task for its group: 0 while it sleeps. */
static __always_inline u64 task_unit(u64 word)
{
	return 1ULL << TASK_AT(word) & ~1ULL;
}

static __always_inline u64 *task_word(u32 pid)
{
	return &tasks[pid % RUNQ_PRESSURE_TASKS];
}

static __always_inline struct runq_pressure_group *group_at(u32 group)
{
	return &groups[group % RUNQ_PRESSURE_NR];
}

/* Moves a task from one cause to another; either may be none. */
static __always_inline void times_turn(u64 *times, u32 from, u32 to, u64 stamp)
{
	if (from == to)
		return;
	if (from < RUNQ_PRESSURE_NR_CAUSES)
		__sync_fetch_and_add(&times[from], stamp);
	if (to < RUNQ_PRESSURE_NR_CAUSES)
		__sync_fetch_and_add(&times[to], -stamp);
}

/* Changes one group; returns its parent. Global: verified once, not per group of a path. */
__noinline u32 group_change(u32 group, u64 delta, u64 stamp)
{
	struct runq_pressure_group *g = group_at(group);
	u64 was = __sync_fetch_and_add(&g->state, delta), is = was + delta;
	u32 from = runq_pressure_cause(was), to = runq_pressure_cause(is);

	times_turn(g->waiting, from, to, stamp);
	if (was >> RUNQ_PRESSURE_AT_RUNS)
		from = RUNQ_PRESSURE_NR_CAUSES;
	if (is >> RUNQ_PRESSURE_AT_RUNS)
		to = RUNQ_PRESSURE_NR_CAUSES;
	times_turn(g->stalled, from, to, stamp);
	return g->up;
}

/* State of a cgroup with these tasks: waiting with one cause, running, or both. */
static __always_inline u64 own_unit(u64 own)
{
	u64 unit = own >> RUNQ_PRESSURE_AT_RUNS ? 1ULL << RUNQ_PRESSURE_AT_RUNS : 0;

	if (own & RUNQ_PRESSURE_THROTTLED)
		return unit | 1ULL << RUNQ_PRESSURE_AT_QUOTA;
	if (own & RUNQ_PRESSURE_CONTENDED)
		return unit | 1ULL << RUNQ_PRESSURE_AT_CONTENTION;
	if (own & RUNQ_PRESSURE_KTHREADED)
		return unit | 1ULL << RUNQ_PRESSURE_AT_KTHREAD;
	return own & RUNQ_PRESSURE_IDLED ? unit | 1ULL << RUNQ_PRESSURE_AT_IDLE : unit;
}

/*
 * Changes the counts of a cgroup's tasks, and of all above if its state changes. Global, for the
 * same reason.
 */
__noinline int groups_change(u32 group, u64 delta, u64 stamp)
{
	u64 was = __sync_fetch_and_add(&group_at(group)->own, delta), is = was + delta;

	if (unlikely(is & RUNQ_PRESSURE_CROWDED))
		__sync_fetch_and_add(&crowded, 1);
	delta = own_unit(is) - own_unit(was);
	for (int i = 0; delta && i < RUNQ_PRESSURE_DEPTH && group; i++)
		group = group_change(group, delta, stamp);
	return 0;
}

/* Number of the cgroup, allocated if needed; 0 if all are in use. */
static __always_inline u32 group_number(struct cgroup_subsys_state *css, u32 up)
{
	u64 key = BPF_CORE_READ(css, serial_nr) ?: 1;
	u32 *known = bpf_map_lookup_elem(&group_of, &key), group;
	struct runq_pressure_group *g;

	if (known)
		return *known;
	if (bpf_map_pop_elem(&free_groups, &group))
		group = __sync_fetch_and_add(&last_group, 1) + 1;
	if (group >= RUNQ_PRESSURE_NR)
		return 0;
	g = group_at(group);
	g->up = up;
	g->gone = 0;
	g->key = key;
	if (!bpf_map_update_elem(&group_of, &key, &group, BPF_NOEXIST)) {
		/* A task may outlive its cgroup. A later rmdir finds the number. */
		if (!(BPF_CORE_READ(css, cgroup, self.flags) & CSS_ONLINE))
			g->gone = 1;
		return group;
	}
	/* Another core added it first, or the map is full. */
	g->key = 0;
	bpf_map_push_elem(&free_groups, &group, 0);
	known = bpf_map_lookup_elem(&group_of, &key);
	return known ? *known : 0;
}

/*
 * Allocates numbers for a chain of cgroups from the root down. Returns the number of the cgroup at
 * @depth.
 */
__noinline u32 chain_numbers(u32 which, u32 depth)
{
	struct chain *chain = bpf_map_lookup_elem(&chains, &which);
	u32 group = 0;

	for (u32 i = 0; chain && i < RUNQ_PRESSURE_DEPTH; i++) {
		u64 css = chain->css[(depth - i) % RUNQ_PRESSURE_DEPTH];

		group = group_number((void *)css, group);
		if (!group || i == depth)
			break;
	}
	return group;
}

/* Group of a task without an entry. */
static __noinline u32 group_find(struct task_struct *task, u32 which)
{
	struct cgroup_subsys_state *css = task_css(task, cgroup_v2);
	struct chain *chain = bpf_map_lookup_elem(&chains, &which);
	u32 depth = 0;

	for (u32 i = 0; chain && css && i < RUNQ_PRESSURE_DEPTH; i++) {
		chain->css[i] = (unsigned long)css;
		css = BPF_CORE_READ(css, parent);
		depth = i;
	}
	/* Nested deeper than that: the root would lack its part. */
	return css ? 0 : chain_numbers(which, depth);
}

/* Change of one task's state: increments for each group. */
struct change {
	u64 delta;
	u32 group;
};

/* The task is now at @at. A word taken out of the table is taken out of the counts. */
static __always_inline struct change task_turns(struct task_struct *task, u32 at, u64 stamp)
{
	u32 pid = task->pid, group;
	u64 *entry = task_word(pid), was = *entry;
	struct change change = {};

	group = TASK_GROUP(was);
	if (unlikely(TASK_PID(was) != pid || group_at(group)->key != task_cgroup(task, cgroup_v2))) {
		group = group_find(task, CHAIN_OF_SWITCH);
		if (!group)
			__sync_fetch_and_add(&full, 1);
	}
	was = __sync_lock_test_and_set(entry, TASK_WORD(pid, group, at));
	change.group = group;
	change.delta = (1ULL << at & ~1ULL);
	if (TASK_PID(was) == pid && TASK_GROUP(was) == group) {
		change.delta -= task_unit(was);
	} else if (task_unit(was)) {
		groups_change(TASK_GROUP(was), -task_unit(was), stamp);
		if (TASK_PID(was) != pid)
			__sync_fetch_and_add(&shared, 1);
	}
	return change;
}

static __always_inline void change_apply(struct change change, u64 stamp)
{
	if (change.delta)
		groups_change(change.group, change.delta, stamp);
}

static __always_inline u64 stamp_now(void)
{
	return bpf_ktime_get_ns() + RUNQ_PRESSURE_STAMP;
}

SEC("tp_btf/sched_switch")
int runq_pressure_switch(u64 *ctx)
{
	struct task_struct *prev, *next;
	struct change left = {}, got = {};
	u64 stamp = stamp_now();
	bool preempted = ctx[0];
	u32 at;

	switch_tasks(ctx, switch_state_first, &prev, &next);
	/* Cause charged to tasks that are enqueued here from now on. */
	at = !next->pid			? RUNQ_PRESSURE_AT_IDLE :
	     next->flags & PF_KTHREAD	? RUNQ_PRESSURE_AT_KTHREAD :
					  RUNQ_PRESSURE_AT_CONTENTION;
	cores[bpf_get_smp_processor_id() % RUNQ_PRESSURE_CPUS] = at;
	if (prev->pid) {
		/* Includes a task preempted on its way to sleep. */
		if (!preempted && !task_runnable(prev))
			at = RUNQ_PRESSURE_AT_ASLEEP;
		else if (unlikely(task_throttled(prev)))
			at = RUNQ_PRESSURE_AT_QUOTA;
		left = task_turns(prev, at, stamp);
	}
	if (next->pid)
		got = task_turns(next, RUNQ_PRESSURE_AT_RUNS, stamp);
	/* A switch within one cgroup changes the counts once, or not at all. */
	if (left.group == got.group) {
		got.delta += left.delta;
		left.delta = 0;
	}
	change_apply(left, stamp);
	change_apply(got, stamp);
	return 0;
}

static __always_inline int task_woken(struct task_struct *task)
{
	u64 was = *task_word(task->pid), stamp;
	u32 at;

	/* Woken before it slept: it still runs, or is in a queue already. */
	if (task->on_cpu || (TASK_PID(was) == (u32)task->pid && TASK_AT(was)))
		return 0;
	stamp = stamp_now();
	at = cores[task_cpu(task) % RUNQ_PRESSURE_CPUS] ?: RUNQ_PRESSURE_AT_CONTENTION;
	if (unlikely(task_throttled(task)))
		at = RUNQ_PRESSURE_AT_QUOTA;
	change_apply(task_turns(task, at, stamp), stamp);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(runq_pressure_wakeup, struct task_struct *task)
{
	return task_woken(task);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(runq_pressure_new, struct task_struct *task)
{
	return task_woken(task);
}

/* Tasks that ran or waited at the start: only those without a change since, whose entry is empty. */
SEC("iter/task")
int runq_pressure_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	u64 word, stamp = stamp_now();
	u32 group, at;

	if (!task || !task->pid)
		return 0;
	if (task->on_cpu)
		at = RUNQ_PRESSURE_AT_RUNS;
	else if (task->on_rq && task_runnable(task))
		at = RUNQ_PRESSURE_AT_CONTENTION;
	else
		return 0;
	group = group_find(task, CHAIN_OF_WALK);
	if (!group)
		return 0;
	word = TASK_WORD(task->pid, group, at);
	if (!__sync_val_compare_and_swap(task_word(task->pid), 0, word))
		groups_change(group, task_unit(word), stamp);
	return 0;
}

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(runq_pressure_rmdir, struct cgroup *cgroup)
{
	struct cgroup_subsys_state *css = cgroup_css(cgroup, cgroup_v2);
	u64 key;
	u32 *group;

	if (!css)
		return 0; /* of another hierarchy */
	key = css->serial_nr;
	group = bpf_map_lookup_elem(&group_of, &key);
	if (group)
		group_at(*group)->gone = 1;
	return 0;
}
