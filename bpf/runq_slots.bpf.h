/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Computes the key of a task's group, and finds the slot of a key. */
#ifndef SUBTICK_BPF_RUNQ_SLOTS_H
#define SUBTICK_BPF_RUNQ_SLOTS_H

#include "runq_maps.bpf.h"
#include "task.bpf.h"

static __always_inline struct runq_task *task_at(u32 pid)
{
	return FIXED(tasks) + (u64)(pid % RUNQ_NR_TASKS) * sizeof(struct runq_task);
}

static __always_inline struct runq_cpu *cpu_at(u64 cpu)
{
	return &core_at(cpu)->runq;
}

static __always_inline u64 *stamp_word(u32 pid)
{
	u32 index = pid % RUNQ_NR_TASKS;

	return bpf_map_lookup_elem(&stamps, &index);
}

/*
 * Returns the key of the group of all tasks with the name of @task. @in is the key of a cgroup if
 * the group contains only tasks of this cgroup, or 0.
 */
static __always_inline u64 comm_key(struct task_struct *task, u64 in)
{
	u64 word[2] = {};
	u64 key;

	bpf_probe_read_kernel(word, sizeof(word), task->comm);
	word[1] += in * 0xd6e8feb86659fd93ULL;
	key = (word[0] ^ word[1] * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;
	/* the returned key is never 0, and always below the reserved keys RUNQ_KEY_* */
	return (key ^ key >> 32) >> 2 | 1;
}

/*
 * Key of the task's group: the serial number of the cgroup, or pid and start time of the task. The
 * key of a removed group is not reused until the machine reboots.
 */
static __always_inline u64 task_key(struct mode mode, struct task_struct *task, u32 cpu)
{
	switch (mode.per) {
	case RUNQ_PER_TASK:
		return (task->start_time << 22 | task->pid) & ~(3ULL << 62);
	case RUNQ_PER_COMM:
		return comm_key(task, 0);
	case RUNQ_PER_CGROUP_COMM:
		return comm_key(task, task_cgroup(task, mode.cgroup_v2));
	case RUNQ_PER_CPU:
		return cpu + 1;
	default:
		return task_cgroup(task, mode.cgroup_v2);
	}
}

/* Returns the address of a slot that is not in the first chunk, or NULL. */
static __noinline void *slot_in_later(u32 slot_ref)
{
	u32 chunk = 1 + (slot_ref - RUNQ_LATER_CHUNK) / RUNQ_CHUNK, index = slot_ref % RUNQ_CHUNK;
	void *map = bpf_map_lookup_elem(&chunks, &chunk), *slot;

	slot = map ? bpf_map_lookup_elem(map, &index) : NULL;
	return slot ? slot + layout.cells_at - RUNQ_TO_CELLS : NULL;
}

static __always_inline void *slot_in_first(u64 at)
{
	return FIXED(first) + (at & RUNQ_FIRST_MASK);
}

static __always_inline void *slot_get(u32 slot_ref)
{
	return slot_ref < RUNQ_LATER_CHUNK ? slot_in_first(slot_ref) : slot_in_later(slot_ref);
}

static __always_inline u32 slot_ref_of(u32 slot)
{
	return slot < layout.first_slots ? slot * layout.slot_size
					 : RUNQ_LATER_CHUNK + slot - layout.first_slots;
}

/* Functions that return the address of a part of a slot. @cpu must be less than layout.cpus. */
static __always_inline struct runq_head *slot_head(void *slot)
{
	u64 back = RUNQ_TO_CELLS - (u64)layout.cells_at;

	/*
	 * The asm barrier makes clang add `back` to @slot in one step. Some verifiers refuse an
	 * intermediate pointer to memory before the slot.
	 */
	asm volatile("" : "+r"(back));
	return slot + back;
}

/*
 * Returns the histogram of a CPU in a slot. The histograms of all CPUs are stored before the cells,
 * in reverse order of the CPUs.
 */
static __always_inline void *slot_stripe(void *slot, u64 cpu, u64 size)
{
	u64 stripe = cpu % RUNQ_MAX_STRIPES ^ (RUNQ_MAX_STRIPES - 1);

	return slot + stripe * size + RUNQ_TO_CELLS - RUNQ_MAX_STRIPES * size;
}

static __always_inline struct runq_hist *slot_hist(void *slot, u64 cpu)
{
	return slot_stripe(slot, cpu, sizeof(struct runq_hist));
}

static __always_inline struct runq_steps *slot_steps(void *slot, u64 cpu)
{
	return slot_stripe(slot, cpu, sizeof(struct runq_steps));
}

static __always_inline u64 *slot_rare(void *slot, u64 cpu, u32 rare)
{
	return layout.kind & RUNQ_STEPS ? &slot_steps(slot, cpu)->rare_ns[rare]
			  : &slot_hist(slot, cpu)->rare_ns[rare];
}

static __always_inline struct runq_cell *slot_cell(void *slot, u64 cpu)
{
	return slot + cpu * sizeof(struct runq_cell) + RUNQ_TO_CELLS;
}

static __always_inline struct runq_cold *slot_cold(void *slot, u64 cpu)
{
	return slot + RUNQ_TO_CELLS + layout.cpus * sizeof(struct runq_cell) +
	       cpu * sizeof(struct runq_cold);
}

/* Stores the names of a cgroup and its ancestors, without the root. */
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
		len = bpf_probe_read_kernel_str(&head->path[at], RUNQ_NAME,
						BPF_CORE_READ(kn, name));
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
	struct cgroup_subsys_state *css = task_css(task, cgroup_v2);
	struct kernfs_node *kn = BPF_CORE_READ(css, cgroup, kn);

	/* a task may outlive its cgroup, so the cgroup of a new slot may be a removed cgroup */
	head->gone =
		per == RUNQ_PER_CGROUP && !(BPF_CORE_READ(css, cgroup, self.flags) & CSS_ONLINE);
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

	/* The ring buffer event only wakes user space, which then reads the new slot. */
	if (!event)
		return;
	event->kind = RUNQ_EVENT_NEW;
	bpf_ringbuf_submit(event, 0);
}

/*
 * Returns the part of the group's key that the task's entry stores: the lower half, or 0 for the
 * root of cgroup v2.
 */
static __always_inline u32 entry_key(struct mode mode, u64 key, u32 slot_ref)
{
	u32 seen = mode.cgroup_v2 && mode.per == RUNQ_PER_CGROUP && key == 1 ? 0 : key;

	return slot_ref < RUNQ_LATER_CHUNK ? seen : seen ^ RUNQ_SLOW_KEY;
}

/*
 * Returns the reference to a group's slot, and allocates a slot if necessary. Returns 0 if the
 * group needs a new slot and no slot is free.
 */
static __noinline u32 slot_find(struct runq_cpu *pc, u64 key, struct task_struct *task)
{
	struct runq_task *entry = task_at(task->pid);
	struct runq_head *head;
	u32 slot, *known;
	void *books;

	known = bpf_map_lookup_elem(&slot_of, &key);
	if (!known) {
		books = bpf_map_pop_elem(&free_slots, &slot) ? NULL : slot_get(slot_ref_of(slot));
		if (!books) {
			pc->table_full++;
			return 0;
		}
		head = slot_head(books);
		/*
		 * head_fill() writes the key last, so a reader that finds the key also finds the
		 * other fields.
		 */
		head_fill(head, key, task);
		if (bpf_map_update_elem(&slot_of, &key, &slot, BPF_NOEXIST)) {
			head->key = 0;
			bpf_map_push_elem(&free_slots, &slot, 0);
			known = bpf_map_lookup_elem(&slot_of, &key);
			if (!known) {
				pc->table_full++;
				return 0;
			}
			slot = *known;
		}
		__sync_fetch_and_add(&slot_changes, 1);
		event_new();
	} else {
		slot = *known;
		books = want_filter ? slot_get(slot_ref_of(slot)) : NULL;
		if (books && slot_head(books)->depth & RUNQ_UNWANTED) {
			entry->group = RUNQ_GROUP(RUNQ_SLOT_UNWANTED,
						  entry_key(MODE_ANY, key, RUNQ_SLOT_UNWANTED));
			return RUNQ_SLOT_UNWANTED;
		}
	}
	/*
	 * if the task comes from an excluded group, the run_delay in the task's entry is outdated
	 */
	if (want_filter && entry->group >> 32 == RUNQ_SLOT_UNWANTED)
		entry->delay = RUNQ_NO_DELAY;
	entry->group = RUNQ_GROUP(slot_ref_of(slot), entry_key(MODE_ANY, key, slot_ref_of(slot)));
	return slot_ref_of(slot);
}

static __always_inline u32 slot_cached(struct mode mode, struct runq_cpu *pc, u64 key,
				       struct task_struct *task)
{
	u64 group = task_at(task->pid)->group;
	u32 slot_ref = group >> 32;

	return (u32)group == entry_key(mode, key, slot_ref) ? slot_ref : slot_find(pc, key, task);
}

#endif
