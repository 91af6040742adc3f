/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* From a task to the key of its group, and from the key to the group's slot. */
#ifndef SUBTICK_BPF_RUNQ_SLOTS_H
#define SUBTICK_BPF_RUNQ_SLOTS_H

#include "runq_maps.bpf.h"

static __always_inline u64 *delay_word(u32 pid)
{
	u32 index = pid % RUNQ_NR_TASKS;

	return bpf_map_lookup_elem(&delays, &index);
}

static __always_inline u64 *stamp_word(u32 pid)
{
	u32 index = pid % RUNQ_NR_TASKS;

	return bpf_map_lookup_elem(&stamps, &index);
}

static __always_inline struct cgroup_subsys_state *task_css(struct task_struct *task, bool v2)
{
	struct css_set *set = task->cgroups;
	struct cgroup_subsys_state **subsys;

	if (v2)
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
	return (key ^ key >> 32) >> 2 | 1; /* not 0, and below the keys that are no group */
}

/*
 * A number that is not reused while the machine is up: the serial number of the cgroup's css, which
 * takes two loads less than the cgroup's id; or pid and start time.
 */
static __always_inline u64 task_key(struct mode mode, struct task_struct *task, u32 cpu)
{
	switch (mode.per) {
	case RUNQ_PER_TASK:
		return (task->start_time << 22 | task->pid) & ~(3ULL << 62);
	case RUNQ_PER_COMM:
		return comm_key(task);
	case RUNQ_PER_CPU:
		return cpu + 1;
	default:
		if (!mode.cgroup_v2)
			return task_css(task, false)->serial_nr;
		/*
		 * The root of v2 has number 0; 1 is that of a controller's root, which is no cgroup
		 * of that hierarchy.
		 */
		return task_css(task, true)->serial_nr ?: 1;
	}
}

static __always_inline void *slot_get(u32 slot)
{
	u32 chunk = slot / RUNQ_CHUNK, index = slot % RUNQ_CHUNK;
	void *map;

	if (slot < RUNQ_CHUNK)
		return bpf_map_lookup_elem(&first, &slot);
	map = bpf_map_lookup_elem(&chunks, &chunk);
	return map ? bpf_map_lookup_elem(map, &index) : NULL;
}

static __noinline void *slot_far(u32 slot)
{
	return slot_get(slot);
}

/* The same for the fast path: keys of the other path are not put on the stack. */
static __always_inline void *slot_fast(u32 slot)
{
	return slot < RUNQ_CHUNK ? bpf_map_lookup_elem(&first, &slot) : slot_far(slot);
}

/* Parts of a slot; @cpu is less than layout.cpus. */
static __always_inline struct runq_cell *slot_cell(void *slot, u64 cpu)
{
	return slot + sizeof(struct runq_head) + cpu * sizeof(struct runq_cell);
}

static __always_inline struct runq_cold *slot_cold(void *slot, u64 cpu)
{
	return slot + layout.colds_at + cpu * sizeof(struct runq_cold);
}

static __always_inline struct runq_hist *slot_hist(void *slot, u64 cpu)
{
	return slot + layout.hists_at + (cpu & (layout.stripes - 1)) * sizeof(struct runq_hist);
}

/* Names from the leaf up, without that of the root. */
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

	/* A task that exits may outlive its cgroup: then the slot ends at once. */
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

	/* Only wakes user space, which looks at the slots itself. */
	if (!event)
		return;
	event->kind = RUNQ_EVENT_NEW;
	bpf_ringbuf_submit(event, 0);
}

/* The slot of a group that is not in this core's cache; 0 if no slot is free. */
static __noinline u32 slot_find(struct runq_cpu *pc, u64 key, struct task_struct *task)
{
	struct runq_head *head;
	u32 slot, *known;

	known = bpf_map_lookup_elem(&slot_of, &key);
	if (!known) {
		head = bpf_map_pop_elem(&free_slots, &slot) ? NULL : slot_get(slot);
		if (!head) {
			pc->table_full++;
			return 0;
		}
		/* head_fill() writes the key last: a reader that sees it finds the rest. */
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
		event_new();
	} else {
		slot = *known;
	}
	pc->cache[key % RUNQ_NR_CACHE].key = key;
	pc->cache[key % RUNQ_NR_CACHE].slot = slot;
	return slot;
}

static __always_inline u32 slot_cached(struct runq_cpu *pc, u64 key, struct task_struct *task)
{
	if (pc->cache[key % RUNQ_NR_CACHE].key != key)
		return slot_find(pc, key, task);
	return pc->cache[key % RUNQ_NR_CACHE].slot;
}

#endif
