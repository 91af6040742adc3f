/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads slots: finds groups, collects their waits, and frees the slots of ended groups. */
#include "measure/runq/slots.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>

#include "base/array.h"
#include "base/clock.h"

#define SCAN_EVERY_NS (50 * NSEC_PER_MSEC)
/*
 * Time without waits after which a removed group counts as ended. The last tasks of a group may
 * still wait after the removal of the cgroup.
 */
#define QUIET_NS (50 * NSEC_PER_MSEC)
#define PRINT_FACTOR 0x9e3779b97f4a7c15ULL

struct runq_owner {
	uint64_t key; /* key of the group; 0 if the slot is free */
	struct runq_group *group;
	/* snapshot of the slot's counters at the start of the window */
	uint64_t base_count; /* number of waits */
	struct hist base;
	uint64_t gone_ns; /* time of the first scan after the group was removed */
	uint64_t gone_count;
	uint64_t print; /* head_print() of the slot when the name of the group was read */
	bool reported;	/* true if a window has reported waits of the group */
	/* true if the last scan found the group; the next scan calls owner_recheck() */
	bool is_new;
	bool over;     /* true if the current scan ends the group */
	bool unwanted; /* true if the current scan found that the filter excludes the group */
	uint64_t base_cause_ns[RUNQ_NR_CAUSES];
};

int runq_slots_open(struct runq_slots *slots, void *first_chunk, size_t nr_groups, struct err *err)
{
	slots->rescan = true;
	return runq_chunks_open(&slots->chunks, first_chunk, nr_groups, err);
}

static void names_clear(struct runq_slots *slots)
{
	while (slots->nr_names)
		runq_group_put(slots->names[--slots->nr_names]);
	free(slots->names);
	slots->names = NULL;
}

void runq_slots_close(struct runq_slots *slots)
{
	runq_chunks_close(&slots->chunks);
	array_for_each(owner, slots->owners, RUNQ_NR_SLOTS) {
		if (!*owner)
			continue;
		runq_group_put((*owner)->group);
		free((*owner)->base.entries);
		free(*owner);
	}
	runq_waits_clear(&slots->waits);
	runq_waits_clear(&slots->ended);
	names_clear(slots);
	free(slots->retired);
}

/*
 * Returns a hash of the fields from which the name of a group is read. The hash covers head->path
 * up to the first 64-bit word of value 0. No name follows this word, because only a single NUL byte
 * separates two names.
 */
static uint64_t head_print(const struct runq_head *head)
{
	const volatile uint64_t *comm = (const void *)head->comm, *path = (const void *)head->path;
	uint64_t print = head->cgroup_id + ((uint64_t)head->pid << 32 | head->tgid) + head->depth;
	uint64_t word;

	print = (print * PRINT_FACTOR + comm[0]) * PRINT_FACTOR + comm[1];
	for (size_t i = 0; i < sizeof(head->path) / sizeof(word) && (word = path[i]); i++)
		print = print * PRINT_FACTOR + word;
	return print;
}

static int owner_read(struct runq_slots *slots, size_t slot, struct runq_owner *owner, uint64_t key,
		      struct err *err)
{
	const struct runq_head *head = runq_chunks_slot(&slots->chunks, slot);
	struct runq_group *group;

	owner->print = head_print(head);
	group = runq_group_read(slots->per, key, head);
	if (!group)
		return err_set(err, -ENOMEM, "out of memory");
	runq_group_put(owner->group);
	owner->group = group;
	slots->paths_cut += group->cut;
	slots->names_stale = true;
	return 0;
}

static int owner_begin(struct runq_slots *slots, size_t slot, uint64_t key, struct err *err)
{
	struct runq_owner *owner = slots->owners[slot];
	int rc;

	if (!owner)
		owner = slots->owners[slot] = calloc(1, sizeof(*owner));
	if (!owner)
		return err_set(err, -ENOMEM, "out of memory");
	/*
	 * The BPF programs store the key of a slot last, but cannot order their stores. On arm64
	 * before Linux 5.12 the key may become visible before other fields, so owner_recheck()
	 * reads the name of the group again.
	 */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	owner->key = 0;
	rc = owner_read(slots, slot, owner, key, err);
	if (rc)
		return rc;
	owner->gone_ns = 0;
	owner->reported = false;
	owner->is_new = true;
	owner->key = key;
	owner->unwanted = slots->filter && key != RUNQ_KEY_OTHER &&
			  runq_filter_never(slots->filter, owner->group);
	return 0;
}

/*
 * Reads the name of a group again if the head of the slot has changed since the last scan. When a
 * second scan finds the group, the head is complete.
 */
static int owner_recheck(struct runq_slots *slots, size_t slot, struct err *err)
{
	const struct runq_head *head = runq_chunks_slot(&slots->chunks, slot);
	struct runq_owner *owner = slots->owners[slot];
	bool cut = owner->group->cut;
	int rc;

	owner->is_new = false;
	/* head->depth of an excluded group contains the flag RUNQ_UNWANTED */
	if (owner->unwanted || owner->print == head_print(head))
		return 0;
	rc = owner_read(slots, slot, owner, owner->key, err);
	slots->paths_cut -= !rc && cut;
	return rc;
}

static uint64_t slot_count(const struct runq_slots *slots, size_t slot)
{
	return runq_slot_count(runq_chunks_slot(&slots->chunks, slot), &slots->chunks.shape);
}

/* Fills @row with the growth of the slot's counters since the last snapshot. Takes a snapshot. */
static int slot_advance(struct runq_slots *slots, size_t slot, struct runq_group_window *row)
{
	struct hist_entry entries[RUNQ_NR_COUNTS], grown_entries[RUNQ_NR_COUNTS];
	struct hist now = {.entries = entries}, grown = {.entries = grown_entries};
	struct runq_owner *owner = slots->owners[slot];
	uint64_t cause_ns[RUNQ_NR_CAUSES];
	struct hist_scale scale =
		runq_scale(slots->chunks.shape.steps, NULL, slots->chunks.shape.nr_le);

	runq_slot_read(runq_chunks_slot(&slots->chunks, slot), &slots->chunks.shape, cause_ns, &now);
	hist_sub(&now, &owner->base, &grown);
	if (hist_set(&row->hist, &grown) || hist_set(&owner->base, &now)) {
		free(row->hist.entries);
		return -ENOMEM;
	}
	for (int i = 0; i < RUNQ_NR_CAUSES; i++) {
		row->cause_ns[i] = cause_ns[i] - owner->base_cause_ns[i];
		row->sum_ns += row->cause_ns[i];
		owner->base_cause_ns[i] = cause_ns[i];
	}
	row->count = hist_values(&scale, &grown);
	owner->base_count += row->count;
	return 0;
}

/* Returns the longest wait on any CPU since the last call, and resets the maxima. */
static uint64_t slot_reset_max(struct runq_slots *slots, size_t slot)
{
	struct runq_cell *cells = (void *)((char *)runq_chunks_slot(&slots->chunks, slot) +
					   runq_cells_at(&slots->chunks.shape));
	uint64_t largest = 0;

	array_for_each(cell, cells, slots->chunks.shape.cpus) {
		uint64_t max = 0;

		/*
		 * reset only a maximum above 0, because the write takes the cache line away from
		 * the CPU that updates cell->max_ns
		 */
		if (*(volatile uint64_t *)&cell->max_ns)
			max = __atomic_exchange_n(&cell->max_ns, 0, __ATOMIC_RELAXED);
		if (max > largest)
			largest = max;
	}
	return largest;
}

/* If a slot has waits since its last snapshot, appends a row with these waits. */
static int owner_collect(struct runq_slots *slots, size_t slot, bool ended,
			 struct runq_waits_list *list, struct err *err)
{
	struct runq_owner *owner = slots->owners[slot];
	struct runq_group_window row;

	/*
	 * If a slot has no new wait, read only its number of waits. The BPF program counts a wait
	 * before it adds the time of the wait. A time that is added after this read is reported
	 * with the next wait of the slot.
	 */
	if (slot_count(slots, slot) == owner->base_count)
		return 0;
	owner->reported = true;
	row = (struct runq_group_window){.party = runq_party_of(owner->key, owner->group),
					 .ended = ended};
	if (slot_advance(slots, slot, &row))
		return err_set(err, -ENOMEM, "out of memory");
	row.max_ns = slot_reset_max(slots, slot);
	return runq_waits_append(list, row, err);
}

/* Moves the last waits of an ended group to slots->ended, and frees the slot of the group. */
static int owner_end(struct runq_slots *slots, size_t slot, struct err *err)
{
	struct runq_owner *owner = slots->owners[slot];
	struct runq_group_window zeros = {.party = runq_party_of(owner->key, owner->group),
					  .ended = true};
	size_t nr_ended = slots->ended.nr;
	int rc;

	owner->over = false;
	rc = owner_collect(slots, slot, true, &slots->ended, err);
	/*
	 * append a row even without waits, because the exporter removes the series of a group when
	 * it reads the group's last row
	 */
	if (!rc && slots->ended.nr == nr_ended && slots->chunks.fixed && owner->reported)
		rc = runq_waits_append(&slots->ended, zeros, err);
	if (!rc && array_push(slots->retired, slots->nr_retired, owner->key))
		rc = err_set(err, -ENOMEM, "out of memory");
	owner->key = 0;
	slots->names_stale = true;
	runq_chunks_slot(&slots->chunks, slot)->key = 0;
	return rc ? rc : runq_chunks_free_slot(&slots->chunks, slot, err);
}

/* True if the removed group that owns the slot had no wait for QUIET_NS. */
static bool owner_quiet(struct runq_slots *slots, size_t slot, uint64_t now)
{
	struct runq_owner *owner = slots->owners[slot];
	uint64_t count = slot_count(slots, slot);

	if (owner->gone_ns && owner->gone_count == count)
		return now - owner->gone_ns >= QUIET_NS;
	owner->gone_ns = now;
	owner->gone_count = count;
	owner->group->gone = true;
	return false;
}

/* Returns the group that owns the slot with the reference @slot_ref, or NULL. */
static struct runq_owner *owner_at(const struct runq_slots *slots, uint32_t slot_ref)
{
	size_t slot = runq_chunks_at(&slots->chunks, slot_ref);

	return slot < runq_chunks_slots(&slots->chunks) ? slots->owners[slot] : NULL;
}

/*
 * Removes ended groups from the index, then resets the slot references of their tasks. With an old
 * slot reference, the waits of a task would be counted for the next group in the slot.
 */
static void owners_forget(struct runq_slots *slots)
{
	array_for_each(owner, slots->owners, runq_chunks_slots(&slots->chunks))
		if (*owner && (*owner)->over)
			bpf_map_delete_elem(slots->index_fd, &(*owner)->key);
	array_for_each(task, slots->tasks, RUNQ_NR_TASKS) {
		volatile __u64 *group = &task->group;
		const struct runq_owner *owner = owner_at(slots, *group >> 32);

		if (owner && owner->over)
			*group = RUNQ_NO_GROUP;
	}
}

/*
 * Makes the BPF programs ignore excluded groups. The BPF programs check the flag RUNQ_UNWANTED when
 * they look up the slot of a task. Tasks that already have a slot in the task table need a changed
 * entry. Reports omit the waits that were already counted.
 */
static void owners_leave_out(struct runq_slots *slots)
{
	for (size_t i = 0; i < runq_chunks_slots(&slots->chunks); i++)
		if (slots->owners[i] && slots->owners[i]->unwanted)
			__atomic_fetch_or(&runq_chunks_slot(&slots->chunks, i)->depth,
					  RUNQ_UNWANTED, __ATOMIC_RELEASE);
	array_for_each(task, slots->tasks, RUNQ_NR_TASKS) {
		volatile __u64 *group = &task->group;
		__u64 was = *group;
		const struct runq_owner *owner = owner_at(slots, was >> 32);

		if (!owner || !owner->unwanted)
			continue;
		/*
		 * change the group key in the task's entry, so that the fast path does not count
		 * the task's waits
		 */
		*group = RUNQ_GROUP(RUNQ_SLOT_UNWANTED, was >> 32 < RUNQ_LATER_CHUNK
								? (__u32)was ^ RUNQ_SLOW_KEY
								: (__u32)was);
	}
	array_for_each(owner, slots->owners, runq_chunks_slots(&slots->chunks))
		if (*owner)
			(*owner)->unwanted = false;
}

void runq_slots_named(struct runq_slots *slots)
{
	bool any = false;

	if (!slots->filter)
		return;
	for (size_t i = 1; i < runq_chunks_slots(&slots->chunks); i++) {
		struct runq_owner *owner = slots->owners[i];

		if (!owner || !owner->key || !runq_filter_never(slots->filter, owner->group) ||
		    runq_chunks_slot(&slots->chunks, i)->depth & RUNQ_UNWANTED)
			continue;
		owner->unwanted = any = true;
	}
	if (any)
		owners_leave_out(slots);
}

static bool slot_ref_over(const void *arg, uint32_t slot_ref)
{
	const struct runq_owner *owner = owner_at(arg, slot_ref);

	return owner && owner->over;
}

/* Ends groups: first resets the slot references of their tasks, then frees the slots. */
static int owners_end(struct runq_slots *slots, struct err *err)
{
	int rc = 0;

	owners_forget(slots);
	if (slots->blame)
		rc = runq_blame_leave(slots->blame, &slots->chunks, slot_ref_over, slots, err);
	for (size_t i = 0; !rc && i < runq_chunks_slots(&slots->chunks); i++)
		if (slots->owners[i] && slots->owners[i]->over)
			rc = owner_end(slots, i, err);
	return rc;
}

/*
 * True if a group appeared or ended since the scan before last. The last scan may have missed a new
 * group, because the BPF programs store the fields of a slot in any order.
 */
static bool scan_needed(struct runq_slots *slots)
{
	uint64_t changes = __atomic_load_n(slots->changes, __ATOMIC_ACQUIRE);
	bool needed = slots->rescan || changes != slots->scan_changes;

	slots->rescan = changes != slots->scan_changes;
	slots->scan_changes = changes;
	return needed;
}

int runq_slots_scan(struct runq_slots *slots, bool at_once, struct err *err)
{
	uint64_t now = clock_mono_ns();
	size_t used = 0, over = 0, unwanted = 0;
	struct runq_owner *owner;
	int rc = 0;

	if (!at_once && now - slots->scan_ns < SCAN_EVERY_NS)
		return 0;
	slots->scan_ns = now;
	if (!scan_needed(slots))
		return 0;
	for (size_t i = 0; !rc && i < runq_chunks_slots(&slots->chunks); i++) {
		const struct runq_head *head = runq_chunks_slot(&slots->chunks, i);
		uint64_t key = i ? __atomic_load_n(&head->key, __ATOMIC_ACQUIRE) : RUNQ_KEY_OTHER;

		if (!key)
			continue;
		used += i != 0;
		owner = slots->owners[i];
		if (!owner || owner->key != key) {
			rc = owner_begin(slots, i, key, err);
			owner = slots->owners[i];
			unwanted += !rc && owner->unwanted;
		} else if (owner->is_new) {
			rc = owner_recheck(slots, i, err);
		}
		if (rc)
			break;
		slots->rescan |= owner->is_new;
		if (!*(const volatile uint32_t *)&head->gone)
			continue;
		slots->rescan = true;
		owner->over = owner_quiet(slots, i, now);
		over += owner->over;
	}
	if (unwanted)
		owners_leave_out(slots);
	if (!rc && over)
		rc = owners_end(slots, err);
	if (!rc)
		rc = runq_chunks_recount(&slots->chunks, used - over, err);
	/* after a failure the next scan reads all slots again */
	slots->rescan |= rc != 0;
	return rc;
}

static int by_key(const void *a, const void *b)
{
	return CMP((*(struct runq_group *const *)a)->key, (*(struct runq_group *const *)b)->key);
}

/* Builds the sorted list slots->names. */
static int names_build(struct runq_slots *slots, struct err *err)
{
	size_t nr_slots = runq_chunks_slots(&slots->chunks), nr = 0;

	names_clear(slots);
	slots->names = calloc(nr_slots + slots->waits.nr + 1, sizeof(*slots->names));
	if (!slots->names)
		return err_set(err, -ENOMEM, "out of memory");
	array_for_each(owner, slots->owners, nr_slots)
		if (*owner && (*owner)->key)
			slots->names[nr++] = (*owner)->group;
	array_for_each(row, slots->waits.rows, slots->waits.nr)
		if (row->party.group)
			slots->names[nr++] = (struct runq_group *)row->party.group;
	array_for_each(name, slots->names, nr)
		runq_group_get(*name);
	qsort(slots->names, nr, sizeof(*slots->names), by_key);
	slots->nr_names = nr;
	slots->names_built++;
	return 0;
}

static const struct runq_group *names_find(const struct runq_slots *slots, uint64_t key)
{
	const struct runq_group want = {.key = key}, *at = &want;
	struct runq_group **name = slots->nr_names ? bsearch(&at, slots->names, slots->nr_names,
							     sizeof(*slots->names), by_key)
						   : NULL;

	return name ? *name : NULL;
}

bool runq_slots_ended(const void *slots, uint64_t key)
{
	const struct runq_group *group = names_find(slots, key);

	return !group || group->gone;
}

const struct runq_group *runq_slots_find(const struct runq_slots *slots, uint64_t key)
{
	const struct runq_group *name = names_find(slots, key);

	if (name)
		return name;
	/* names_find() does not find a group that appeared after the last window */
	array_for_each(owner, slots->owners, runq_chunks_slots(&slots->chunks))
		if (*owner && (*owner)->key == key)
			return (*owner)->group;
	return NULL;
}

int runq_slots_window(struct runq_slots *slots, struct err *err)
{
	bool ended;
	int rc = runq_slots_scan(slots, true, err);

	runq_waits_clear(&slots->waits);
	slots->waits = slots->ended;
	slots->ended = (struct runq_waits_list){0};
	ended = slots->waits.nr > 0;
	for (size_t i = 0; !rc && i < runq_chunks_slots(&slots->chunks); i++)
		if (slots->owners[i] && slots->owners[i]->key)
			rc = owner_collect(slots, i, slots->owners[i]->gone_ns, &slots->waits, err);
	runq_waits_merge(&slots->waits);
	if (rc || (!slots->names_stale && !ended))
		return rc;
	/* the next window builds the list of groups again if the list contains ended groups */
	slots->names_stale = ended;
	return names_build(slots, err);
}
