/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Measures for each cgroup with its descendants the wall time in which at least one task waits for
 * a core, and the part of this time in which no task runs.
 *
 * A task sleeps, waits or runs. The state of a task changes at wake-ups and switches, under the
 * lock of the run queue. Each change of a task's state updates the counts of the task's cgroup. If
 * the state of a cgroup changes, the counts of all its ancestors also change. When the cause of a
 * cgroup's wait time changes, the program adds the current time to the sum of the old cause and
 * subtracts the current time from the sum of the new cause. The sums need no lock, because each
 * update of a sum is one atomic operation.
 */
#include "task.bpf.h"
#include "map.bpf.h"
#include "abi/runq_pressure.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Constants that user space sets before it loads the programs. */
const volatile bool cgroup_v2;
const volatile bool switch_state_first;

/* Counters of cgroups, indexed by group number. Group numbers start at 1. */
struct runq_pressure_group groups[RUNQ_PRESSURE_NR];
/* highest allocated group number; keeps growing if all numbers are in use */
__u64 last_group;
/*
 * States of tasks, indexed by pid modulo the table size. If two tasks have the same index, the
 * later write replaces the entry.
 */
__u64 tasks[RUNQ_PRESSURE_TASKS];
/* For each CPU: cause of a wait that begins now; 0 before the first switch. */
__u8 cores[RUNQ_PRESSURE_CPUS];
/* number of tasks that were not counted, because no group number was free for their cgroup */
__u64 full;
__u64 shared;  /* number of tasks whose entry another task overwrote */
__u64 crowded; /* number of updates after which a task count exceeded half of its limit */

MAP(group_of, HASH, 0, RUNQ_PRESSURE_NR, u64, u32);

/* Group numbers for reuse. User space adds the number of each removed cgroup. */
QUEUE(free_groups, QUEUE, RUNQ_PRESSURE_NR, u32);

/* A cgroup and its ancestors, stored while their group numbers are allocated. */
struct chain {
	u64 css[RUNQ_PRESSURE_DEPTH];
};

enum {
	CHAIN_OF_SWITCH,
	/*
	 * separate chain of the task iterator, because a program on an event can interrupt the
	 * iterator
	 */
	CHAIN_OF_WALK,
	NR_CHAINS,
};

MAP(chains, PERCPU_ARRAY, 0, NR_CHAINS, u32, struct chain);

/* Pid, group number and state of a task in one word. */
#define TASK_WORD(pid, group, at) ((u64)(pid) << 32 | (group) << 8 | (at))
#define TASK_PID(word)		  ((u32)((word) >> 32))
#define TASK_GROUP(word)	  ((u32)(word) >> 8)
#define TASK_AT(word)		  ((u8)(word))

/* Returns the value that a task adds to the task counts of its group: 0 for a sleeping task. */
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

/*
 * Ends a cgroup's interval of wait time with cause @from, and begins an interval with cause @to.
 * RUNQ_PRESSURE_NR_CAUSES means no cause.
 */
static __always_inline void times_change(u64 *times, u32 from, u32 to, u64 stamp)
{
	if (from == to)
		return;
	if (from < RUNQ_PRESSURE_NR_CAUSES)
		__sync_fetch_and_add(&times[from], stamp);
	if (to < RUNQ_PRESSURE_NR_CAUSES)
		__sync_fetch_and_add(&times[to], -stamp);
}

/*
 * Changes the task counts of one group and returns the number of the group's parent. group_change()
 * is a global function, because the verifier checks a global function only once.
 */
__noinline u32 group_change(u32 group, u64 delta, u64 stamp)
{
	struct runq_pressure_group *g = group_at(group);
	u64 was = __sync_fetch_and_add(&g->state, delta), is = was + delta;
	u32 from = runq_pressure_cause(was), to = runq_pressure_cause(is);

	times_change(g->waiting, from, to, stamp);
	if (was >> RUNQ_PRESSURE_AT_RUNS)
		from = RUNQ_PRESSURE_NR_CAUSES;
	if (is >> RUNQ_PRESSURE_AT_RUNS)
		to = RUNQ_PRESSURE_NR_CAUSES;
	times_change(g->stalled, from, to, stamp);
	return g->up;
}

/*
 * Returns what a cgroup adds to the counts in runq_pressure_group.state: 1 to the count of its
 * cause if a task waits, and 1 to the count RUNQ_PRESSURE_AT_RUNS if a task runs.
 */
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
 * Changes the counts of a cgroup, and of its ancestors if its state changes. groups_change() is a
 * global function, because the verifier checks a global function only once.
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

/*
 * Returns the group number of a cgroup and allocates a number if necessary. Returns 0 if all group
 * numbers are in use.
 */
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
		/*
		 * A task may outlive its cgroup. If the cgroup is removed after the test of
		 * CSS_ONLINE, the program on cgroup_rmdir finds the number of the cgroup in the map
		 * group_of.
		 */
		if (!(BPF_CORE_READ(css, cgroup, self.flags) & CSS_ONLINE))
			g->gone = 1;
		return group;
	}
	/* The map update fails if another core has added the cgroup, or if the map is full. */
	g->key = 0;
	bpf_map_push_elem(&free_groups, &group, 0);
	known = bpf_map_lookup_elem(&group_of, &key);
	return known ? *known : 0;
}

/*
 * Allocates numbers for a cgroup and its ancestors, beginning at the root. Returns the number of
 * the cgroup, or 0 if no number is free.
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

/* Finds the group number of a task that has no table entry. */
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
	/* Tasks of a cgroup with RUNQ_PRESSURE_DEPTH or more ancestors are not counted. */
	return css ? 0 : chain_numbers(which, depth);
}

/* Result of task_set_state(): number of a group, and value to add to the group's task counts. */
struct change {
	u64 delta;
	u32 group;
};

/*
 * Sets the state of @task to @at. If the table entry had another task or another group, the earlier
 * task is removed from the task counts of the earlier group.
 */
static __always_inline struct change task_set_state(struct task_struct *task, u32 at, u64 stamp)
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
	/* cause of waits that begin on this core from now on */
	at = !next->pid			? RUNQ_PRESSURE_AT_IDLE :
	     next->flags & PF_KTHREAD	? RUNQ_PRESSURE_AT_KTHREAD :
					  RUNQ_PRESSURE_AT_CONTENTION;
	cores[bpf_get_smp_processor_id() % RUNQ_PRESSURE_CPUS] = at;
	if (prev->pid) {
		/* A task that was preempted before it could block is runnable and waits. */
		if (!preempted && !task_runnable(prev))
			at = RUNQ_PRESSURE_AT_ASLEEP;
		else if (unlikely(task_throttled(prev)))
			at = RUNQ_PRESSURE_AT_QUOTA;
		left = task_set_state(prev, at, stamp);
	}
	if (next->pid)
		got = task_set_state(next, RUNQ_PRESSURE_AT_RUNS, stamp);
	/* If @prev and @next are in one cgroup, one call applies the sum of both changes. */
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

	/* a task that is woken before it has left its core still runs or waits */
	if (task->on_cpu || (TASK_PID(was) == (u32)task->pid && TASK_AT(was)))
		return 0;
	stamp = stamp_now();
	at = cores[task_cpu(task) % RUNQ_PRESSURE_CPUS] ?: RUNQ_PRESSURE_AT_CONTENTION;
	if (unlikely(task_throttled(task)))
		at = RUNQ_PRESSURE_AT_QUOTA;
	change_apply(task_set_state(task, at, stamp), stamp);
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

/*
 * Adds the tasks that run or wait at the start of the measurement, unless a program on events has
 * added them.
 */
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
		return 0; /* the cgroup belongs to another hierarchy */
	key = css->serial_nr;
	group = bpf_map_lookup_elem(&group_of, &key);
	if (group)
		group_at(*group)->gone = 1;
	return 0;
}
