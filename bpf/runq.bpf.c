/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Charges every wait for a core to the group of the task that waited, and to what it waited for. */
#include "kernel.bpf.h"
#include "hist.bpf.h"
#include "abi/runq.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set by user space before loading. */
const volatile __u32 nr_cpus = 1;
const volatile __u32 nr_stripes = 1;
const volatile __u32 per;	   /* enum runq_per */
const volatile __u32 sample_below; /* of 2^32; 0: every wait */
const volatile __u64 threshold_ns; /* 0: no events */
const volatile bool by_wakeup;	   /* own stamps instead of sched_info's */
const volatile bool cgroup_v2;
const volatile bool want_blame;
const volatile bool switch_state_first;
const volatile __u64 le_ns[RUNQ_NR_LE];
/* 1 + which boundary lies inside that bucket; 0 for none. */
const volatile __u8 le_in[HIST_NR];

/* Run delay by the kernel's books: of tasks as of the last walk, and of those that exited. */
__u64 delay_live_ns;
__u64 delay_exited_ns;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct runq_cpu);
} cpus SEC(".maps");

/* Chunks of slots; user space lays in new ones ahead of need. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, RUNQ_NR_CHUNKS);
	__type(key, u32);
	__type(value, u32);
} chunks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, RUNQ_NR_SLOTS);
	__uint(key_size, 0);
	__type(value, u32);
} free_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RUNQ_NR_SLOTS);
	__type(key, u64);
	__type(value, u32);
} slot_of SEC(".maps");

/*
 * By pid, whatever pid_max is: two tasks may share an entry, and the tag tells them apart. An
 * entry is one word, so that cores cannot tear it. sched_info: tag and run delay at the last
 * dispatch. by_wakeup: tag and when the task became runnable.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RUNQ_NR_TASKS);
	__type(key, u32);
	__type(value, u64);
} tasks SEC(".maps");

#define TAG_SHIFT  57
#define WORD_MASK  ((1ULL << TAG_SHIFT) - 1)
#define TAG_OF(pid) ((u64)((u32)(pid) / RUNQ_NR_TASKS + 1) << TAG_SHIFT)

/* Tag and run delay of tasks that exit, until they are freed. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RUNQ_NR_EXITS);
	__type(key, u32);
	__type(value, u64);
} exits SEC(".maps");

/* Seven bits, never 0: enough to tell apart pids that share an entry, if hardly two do at once. */
#define EXIT_TAG(pid) ((u64)((u32)(pid) / RUNQ_NR_EXITS % 127 + 1) << TAG_SHIFT)

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct runq_pair);
	__type(value, struct runq_charge);
} blame SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} events SEC(".maps");

static __always_inline u64 *task_word(u32 pid)
{
	u32 index = pid % RUNQ_NR_TASKS;

	return bpf_map_lookup_elem(&tasks, &index);
}

static __always_inline struct cgroup_subsys_state *task_css(struct task_struct *task)
{
	struct css_set *set = task->cgroups;
	struct cgroup_subsys_state **subsys;

	if (cgroup_v2)
		return &set->dfl_cgrp->self;
	subsys = (void *)&set->subsys;
	return subsys[bpf_core_enum_value(enum cgroup_subsys_id___core, cpu_cgrp_id___core)];
}

static __always_inline u64 comm_key(struct task_struct *task)
{
	u64 word[2] = {};
	u64 key;

	bpf_probe_read_kernel(word, sizeof(word), task->comm);
	key = (word[0] ^ word[1] * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;
	return (key ^ key >> 32) >> 2 | 1; /* not 0, and below the keys of no group */
}

/*
 * What never comes again while the machine is up: the serial number of the cgroup's css, which
 * is two loads nearer than the cgroup's id; pid and start time.
 */
static __always_inline u64 task_key(struct task_struct *task, u32 cpu)
{
	switch (per) {
	case RUNQ_PER_TASK:
		return (task->start_time << 22 | task->pid) & ~(3ULL << 62);
	case RUNQ_PER_COMM:
		return comm_key(task);
	case RUNQ_PER_CPU:
		return cpu + 1;
	default:
		return task_css(task)->serial_nr;
	}
}

static __always_inline void *slot_get(u32 slot)
{
	u32 chunk = slot / RUNQ_CHUNK, index = slot % RUNQ_CHUNK;
	void *map = bpf_map_lookup_elem(&chunks, &chunk);

	return map ? bpf_map_lookup_elem(map, &index) : NULL;
}

/* Names from the leaf up to the root, which has none. */
static __always_inline void head_path(struct runq_head *head, struct kernfs_node *kn)
{
	u32 at = 0, depth = 0;

	for (int i = 0; i < RUNQ_DEPTH; i++) {
		struct kernfs_node *up;
		long len;

		if (!kn || at > RUNQ_PATH)
			break;
		if (bpf_core_field_exists(((struct kernfs_node___rcu *)0)->__parent))
			up = BPF_CORE_READ((struct kernfs_node___rcu *)kn, __parent);
		else
			up = BPF_CORE_READ((struct kernfs_node___parent *)kn, parent);
		if (!up)
			break;
		depth = i + 1;
		len = bpf_probe_read_kernel_str(&head->path[at], RUNQ_NAME, BPF_CORE_READ(kn, name));
		if (len < 0 || len > RUNQ_NAME) {
			depth = RUNQ_DEPTH;
			break;
		}
		at += len;
		kn = up;
	}
	head->depth = at > RUNQ_PATH ? RUNQ_DEPTH : depth;
}

static __always_inline void head_fill(struct runq_head *head, u64 key, struct task_struct *task)
{
	struct cgroup_subsys_state *css = task_css(task);
	struct kernfs_node *kn = BPF_CORE_READ(css, cgroup, kn);

	/* A task on its way out may outlive its cgroup: then this slot ends with it, too. */
	head->gone = per == RUNQ_PER_CGROUP && !(BPF_CORE_READ(css, cgroup, self.flags) & CSS_ONLINE);
	head->pid = task->pid;
	head->tgid = task->tgid;
	bpf_probe_read_kernel(head->comm, sizeof(head->comm), task->comm);
	head->cgroup_id = BPF_CORE_READ(kn, id);
	head_path(head, kn);
	head->key = key;
}

static __noinline void event_new(void)
{
	struct runq_event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);

	/* Only a knock on the door: user space looks for itself. */
	if (!event)
		return;
	event->kind = RUNQ_EVENT_NEW;
	bpf_ringbuf_submit(event, 0);
}

/* A group that this core has not met lately. 0 when there is no slot left. */
static __noinline u32 slot_find(struct runq_cpu *pc, u64 key, struct task_struct *task)
{
	struct runq_head *head;
	u32 slot, *known;

	known = bpf_map_lookup_elem(&slot_of, &key);
	if (!known) {
		if (bpf_map_pop_elem(&free_slots, &slot))
			return 0;
		head = slot_get(slot);
		if (!head)
			return 0;
		/* The key goes in last: whoever reads it finds the rest. */
		head_fill(head, key, task);
		if (bpf_map_update_elem(&slot_of, &key, &slot, BPF_NOEXIST)) {
			head->key = 0;
			bpf_map_push_elem(&free_slots, &slot, 0);
			known = bpf_map_lookup_elem(&slot_of, &key);
			if (!known)
				return 0;
			slot = *known;
		}
		event_new();
	} else {
		slot = *known;
	}
	pc->cache[key % RUNQ_NR_CACHE].key = key;
	pc->cache[key % RUNQ_NR_CACHE].slot = slot;
	return slot;
}

static __noinline void blame_add(struct runq_cpu *pc, u64 victim, u64 culprit, u64 ns)
{
	struct runq_pair pair = {.victim = victim, .culprit = culprit};
	struct runq_charge *charge = bpf_map_lookup_elem(&blame, &pair);

	if (!charge) {
		struct runq_charge none = {};

		bpf_map_update_elem(&blame, &pair, &none, BPF_NOEXIST);
		charge = bpf_map_lookup_elem(&blame, &pair);
	}
	if (!charge) {
		/* Laid in by user space, so that it is there when nothing else fits. */
		pc->blame_full++;
		pair.victim = pair.culprit = RUNQ_KEY_OTHER;
		charge = bpf_map_lookup_elem(&blame, &pair);
	}
	if (!charge)
		return;
	__sync_fetch_and_add(&charge->wait_ns, ns);
	__sync_fetch_and_add(&charge->count, 1);
}

struct wait {
	u64 key;
	u64 pid;
	u64 from; /* queued here, or the start of the wait in by_wakeup */
	u64 to;
	u64 held_from; /* throttled inside the wait; equal for not at all */
	u64 held_to;
};

static __always_inline u64 overlap(u64 from, u64 to, u64 other_from, u64 other_to)
{
	if (from < other_from)
		from = other_from;
	if (to > other_to)
		to = other_to;
	return from < to ? to - from : 0;
}

static __always_inline u32 cause_of(u64 ran, u64 victim)
{
	if (ran == RUNQ_KEY_IDLE)
		return RUNQ_IDLE;
	if (ran == RUNQ_KEY_KTHREAD)
		return RUNQ_KTHREAD;
	if (!ran)
		return RUNQ_UNKNOWN;
	return ran == victim ? RUNQ_SAME : RUNQ_OTHER;
}

/* The long way: through every segment that the wait touches, newest first. */
static __noinline int wait_walk(struct runq_cpu *pc, struct runq_cell *cell, struct wait *w)
{
	u64 to = w->to, held = w->held_to - w->held_from, rest, ns;
	u64 same = 0, other = 0, kthread = 0, idle = 0;
	u32 at = pc->head;
	bool preempted = false, whole = false;

	for (int i = 0; i < RUNQ_NR_SEGS - 1; i++) {
		struct runq_seg *seg = &pc->segs[(at - i) % RUNQ_NR_SEGS];
		u64 start = seg->start_ns, from, key = seg->key;
		u32 cause;

		if (!key)
			break;
		from = start > w->from ? start : w->from;
		if (from < to) {
			ns = to - from - overlap(from, to, w->held_from, w->held_to);
			cause = cause_of(key, w->key);
			if (cause == RUNQ_IDLE)
				idle += ns;
			else if (cause == RUNQ_KTHREAD)
				kthread += ns;
			else if (cause == RUNQ_SAME)
				same += ns;
			else
				other += ns;
			if (want_blame && ns)
				blame_add(pc, w->key, key, ns);
			to = from;
		}
		if (start <= w->from) {
			whole = true;
			preempted = start == w->from &&
				    pc->segs[(at - i - 1) % RUNQ_NR_SEGS].pid == w->pid;
			break;
		}
	}
	rest = whole || to <= w->from ? 0
				      : to - w->from - overlap(w->from, to, w->held_from, w->held_to);
	if (preempted) {
		cell->cause_ns[RUNQ_PREEMPTED] += same + other + kthread + idle;
	} else {
		cell->cause_ns[RUNQ_IDLE] += idle;
		cell->cause_ns[RUNQ_SAME] += same;
		cell->cause_ns[RUNQ_OTHER] += other;
		cell->cause_ns[RUNQ_KTHREAD] += kthread;
	}
	cell->cause_ns[RUNQ_UNKNOWN] += rest;
	cell->cause_ns[RUNQ_THROTTLED] += held;
	if (want_blame && rest)
		blame_add(pc, w->key, RUNQ_KEY_UNKNOWN, rest);
	if (want_blame && held)
		blame_add(pc, w->key, RUNQ_KEY_QUOTA, held);
	return 0;
}

/* Whoever ran for the largest part of the wait. */
static __always_inline u64 wait_culprit(struct runq_cpu *pc, const struct wait *w, u64 *ret_ns)
{
	u64 to = w->to, most = 0, who = 0;

	for (int i = 0; i < RUNQ_NR_SEGS; i++) {
		struct runq_seg *seg = &pc->segs[(pc->head - i) % RUNQ_NR_SEGS];
		u64 from = seg->start_ns > w->from ? seg->start_ns : w->from;

		if (from < to && to - from > most) {
			most = to - from;
			who = seg->key;
		}
		if (seg->start_ns <= w->from)
			break;
		to = from;
	}
	if (w->held_to - w->held_from > most) {
		most = w->held_to - w->held_from;
		who = RUNQ_KEY_QUOTA;
	}
	*ret_ns = most;
	return who;
}

static __noinline int event_wait(struct runq_cpu *pc, const struct wait *w, u64 wait_ns,
				 struct task_struct *prev, struct task_struct *next)
{
	struct runq_event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);

	if (!event) {
		pc->events_lost++;
		return 0;
	}
	event->kind = RUNQ_EVENT_WAIT;
	event->cpu = bpf_get_smp_processor_id();
	event->key = w->key;
	event->wait_ns = wait_ns;
	event->culprit = wait_culprit(pc, w, &event->culprit_ns);
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
 */
static __always_inline void wait_held(struct runq_cell *cell, struct task_struct *next,
				      struct wait *w)
{
	u64 total;

	if (per != RUNQ_PER_CGROUP ||
	    !bpf_core_field_exists(((struct sched_entity *)0)->cfs_rq) ||
	    !held_clock(next->se.cfs_rq, &total))
		return;
	total++;
	if (cell->held_clock != total) {
		if (cell->held_clock) {
			cell->held_ns = total - cell->held_clock;
			cell->held_end = w->to;
		}
		cell->held_clock = total;
	}
	if (cell->held_end > w->from) {
		w->held_to = cell->held_end;
		w->held_from = w->held_to - cell->held_ns;
		if (w->held_from < w->from || w->held_from > w->held_to)
			w->held_from = w->from;
	}
}

static __always_inline void hist_count(void *slot, u32 cpu, u64 wait_ns)
{
	u32 bucket = hist_bucket(wait_ns) % HIST_NR, le;
	u32 stripe = cpu & (nr_stripes - 1);
	struct runq_hist *hist;

	if (stripe >= nr_stripes)
		return;
	hist = slot + sizeof(struct runq_head) + stripe * sizeof(*hist);
	le = le_in[bucket];
	if (nr_stripes >= nr_cpus)
		hist->count[bucket]++;
	else
		__sync_fetch_and_add(&hist->count[bucket], 1);
	if (!le || le > RUNQ_NR_LE || wait_ns > le_ns[le - 1])
		return;
	if (nr_stripes >= nr_cpus)
		hist->below[le - 1]++;
	else
		__sync_fetch_and_add(&hist->below[le - 1], 1);
}

static __always_inline bool wait_sampled(void)
{
	return !sample_below || bpf_get_prandom_u32() < sample_below;
}

/* @moved_ns: queued on other cores before. */
static __always_inline void wait_charge(struct runq_cpu *pc, u32 cpu, u32 slot_nr, struct wait *w,
					u64 moved_ns, struct task_struct *prev,
					struct task_struct *next)
{
	u64 wait_ns = w->to - w->from + moved_ns;
	struct runq_seg *last;
	struct runq_cell *cell;
	bool sampled = wait_sampled();
	void *slot;

	pc->switches++;
	pc->wait_ns += wait_ns;
	if (!sampled && (!threshold_ns || wait_ns < threshold_ns))
		return;
	slot = slot_get(slot_nr);
	if (!slot || cpu >= nr_cpus)
		return;
	cell = slot + RUNQ_CELLS(nr_stripes) + cpu * sizeof(*cell);
	wait_held(cell, next, w);
	if (threshold_ns && wait_ns >= threshold_ns)
		event_wait(pc, w, wait_ns, prev, next);
	if (!sampled)
		return;
	hist_count(slot, cpu, wait_ns);
	if (wait_ns > cell->max_ns)
		cell->max_ns = wait_ns;
	if (moved_ns) {
		cell->cause_ns[RUNQ_MIGRATED] += moved_ns;
		if (want_blame)
			blame_add(pc, w->key, RUNQ_KEY_MOVED, moved_ns);
	}
	last = &pc->segs[pc->head % RUNQ_NR_SEGS];
	/* Most waits lie inside the last segment. */
	if (!want_blame && last->start_ns < w->from && w->held_from == w->held_to)
		cell->cause_ns[cause_of(last->key, w->key) % RUNQ_NR_CAUSES] += w->to - w->from;
	else
		wait_walk(pc, cell, w);
}

static __always_inline void seg_begin(struct runq_cpu *pc, u64 now, u64 key, u32 pid)
{
	u32 head = pc->head + 1;
	struct runq_seg *seg = &pc->segs[head % RUNQ_NR_SEGS];

	seg->start_ns = now;
	seg->key = key;
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
static __always_inline bool wait_start(struct task_struct *next, u32 pid, u64 now, u64 *ret_from,
				       u64 *ret_moved_ns)
{
	u64 *word = task_word(pid), tag = TAG_OF(pid), was, delay;

	if (!word)
		return false;
	was = *word;
	if (by_wakeup) {
		if ((was & ~WORD_MASK) != tag)
			return false;
		*word = 0;
		*ret_from = was & WORD_MASK;
		return true;
	}
	*ret_from = next->sched_info.last_queued;
	delay = next->sched_info.run_delay;
	/* What the kernel will have booked once this dispatch is through. */
	*word = tag | ((delay + (*ret_from ? now - *ret_from : 0)) & WORD_MASK);
	if ((was & ~WORD_MASK) == tag && delay > (was & WORD_MASK))
		*ret_moved_ns = delay - (was & WORD_MASK);
	return *ret_from;
}

static __always_inline u64 switch_now(struct task_struct *next)
{
	if (by_wakeup)
		return bpf_ktime_get_ns();
	/* What sched_info is about to subtract from; __schedule() has just updated it. */
	return next->se.cfs_rq->rq->clock;
}

SEC("tp_btf/sched_switch")
int runq_switch(u64 *ctx)
{
	u32 cpu = bpf_get_smp_processor_id(), pid, slot;
	struct task_struct *prev, *next;
	struct runq_cpu *pc;
	u64 now, key, moved_ns = 0;
	struct wait w = {};

	pc = bpf_map_lookup_elem(&cpus, &cpu);
	if (!pc || pc->skip)
		return 0;
	switch_tasks(ctx, switch_state_first, &prev, &next);
	now = switch_now(next);
	if (by_wakeup)
		prev_leaves(ctx, prev, now);
	pid = next->pid;
	if (!pid) {
		seg_begin(pc, now, RUNQ_KEY_IDLE, 0);
		return 0;
	}
	key = task_key(next, cpu);
	slot = pc->cache[key % RUNQ_NR_CACHE].slot;
	if (pc->cache[key % RUNQ_NR_CACHE].key != key)
		slot = slot_find(pc, key, next);
	if (!wait_start(next, pid, now, &w.from, &moved_ns)) {
		pc->unknown_start++;
	} else if (now < w.from) {
		pc->negative++;
	} else {
		if (!slot)
			pc->table_full++;
		w.key = key;
		w.pid = pid;
		w.to = now;
		wait_charge(pc, cpu, slot, &w, moved_ns, prev, next);
	}
	seg_begin(pc, now, next->flags & PF_KTHREAD ? RUNQ_KEY_KTHREAD : key, pid);
	return 0;
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
		slot_ends(task_key(task, 0));
	return 0;
}
