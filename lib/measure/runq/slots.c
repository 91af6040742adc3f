/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads slots: finds their owners, collects what those waited, frees what has ended. */
#include "measure/runq/slots.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>

#include "base/clock.h"
#include "base/grow.h"

/* Between two scans that nobody is waiting for. */
#define SCAN_EVERY_NS (50 * NSEC_PER_MSEC)
/* The last tasks of a removed cgroup may still wait; it has ended once it is quiet for so long. */
#define QUIET_NS (50 * NSEC_PER_MSEC)
#define PRINT_FACTOR 0x9e3779b97f4a7c15ULL

struct runq_owner {
	uint64_t key; /* 0: the slot is free */
	struct runq_group *group;
	/* The slot's counters when the current window began; which, is up to what slots consist of. */
	struct runq_packed *base;
	struct runq_step_totals *base_steps;
	uint64_t base_count; /* waits in it */
	uint64_t gone_ns; /* when its end was first seen */
	uint64_t gone_count;
	uint64_t print; /* of the head that its name was read from */
	bool told;	/* a window has had waits of it */
	bool young;	/* found in the last scan: the head is looked at once more */
	bool over;     /* it ends in the scan under way */
	bool unwanted; /* likewise: it turns out not to be asked for */
};

int runq_slots_open(struct runq_slots *slots, void *near, size_t nr_groups, struct err *err)
{
	slots->unsettled = true;
	return runq_chunks_open(&slots->chunks, near, nr_groups, err);
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
	for (size_t i = 0; i < RUNQ_NR_SLOTS; i++) {
		if (slots->owners[i]) {
			runq_group_put(slots->owners[i]->group);
			free(slots->owners[i]->base);
			free(slots->owners[i]->base_steps);
		}
		free(slots->owners[i]);
	}
	runq_waits_clear(&slots->waits);
	runq_waits_clear(&slots->ended);
	names_clear(slots);
	free(slots->retired);
}

/*
 * A number that changes with what a name is read from. Names are separated by one NUL, so that the
 * first eight of them are behind the path.
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

static int owner_begin(struct runq_slots *slots, size_t slot, uint64_t key, struct err *err)
{
	const struct runq_head *head = runq_chunks_slot(&slots->chunks, slot);
	struct runq_owner *owner = slots->owners[slot];

	if (!owner)
		owner = slots->owners[slot] = calloc(1, sizeof(*owner));
	if (!owner)
		return err_set(err, -ENOMEM, "out of memory");
	/*
	 * The programs write the key last, in slot_find(). Before Linux 5.12 they have no store with an
	 * order, so that on arm64 another core can see the key a moment before the rest: owner_settle().
	 */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	runq_group_put(owner->group);
	owner->key = 0;
	owner->print = head_print(head);
	owner->group = runq_group_read(slots->per, key, head);
	if (!owner->group)
		return err_set(err, -ENOMEM, "out of memory");
	slots->names_stale = true;
	owner->gone_ns = 0;
	owner->told = false;
	owner->young = true;
	owner->key = key;
	slots->paths_cut += owner->group->cut;
	owner->unwanted = slots->filter && key != RUNQ_KEY_OTHER &&
			  runq_filter_never(slots->filter, owner->group);
	return 0;
}

/* By now all of a new head is there: if it is not as it was, the name is read again. */
static int owner_settle(struct runq_slots *slots, size_t slot, struct err *err)
{
	const struct runq_head *head = runq_chunks_slot(&slots->chunks, slot);
	struct runq_owner *owner = slots->owners[slot];
	struct runq_group *again;

	owner->young = false;
	/* The head of one that is left out has another depth by now. */
	if (owner->unwanted || owner->print == head_print(head))
		return 0;
	again = runq_group_read(slots->per, owner->key, head);
	if (!again)
		return err_set(err, -ENOMEM, "out of memory");
	slots->paths_cut += again->cut;
	slots->paths_cut -= owner->group->cut;
	runq_group_put(owner->group);
	owner->group = again;
	slots->names_stale = true;
	return 0;
}

static void slot_sum(const struct runq_slots *slots, size_t slot, struct runq_totals *ret_totals)
{
	const struct runq_shape *shape = &slots->chunks.shape;

	runq_slot_sum(runq_chunks_slot(&slots->chunks, slot), shape->stripes, shape->cpus,
		      ret_totals);
}

static void slot_steps(const struct runq_slots *slots, size_t slot,
		       struct runq_step_totals *ret_totals)
{
	const struct runq_shape *shape = &slots->chunks.shape;

	runq_slot_steps(runq_chunks_slot(&slots->chunks, slot), shape->stripes, shape->cpus,
			slots->nr_le, ret_totals);
}

static uint64_t slot_count(const struct runq_slots *slots, size_t slot)
{
	const struct runq_shape *shape = &slots->chunks.shape;

	return runq_slot_count(runq_chunks_slot(&slots->chunks, slot), shape->steps, shape->stripes,
			       slots->nr_le);
}

/* What the slot has counted since its base, which then is where the next window begins. */
static int slot_advance(struct runq_slots *slots, size_t slot, struct runq_totals *ret_totals,
			struct err *err)
{
	struct runq_owner *owner = slots->owners[slot];
	struct runq_totals was;
	struct runq_packed *base;

	slot_sum(slots, slot, ret_totals);
	base = runq_pack(ret_totals);
	if (!base)
		return err_set(err, -ENOMEM, "out of memory");
	owner->base_count = runq_totals_count(ret_totals);
	runq_unpack(owner->base, &was);
	runq_totals_sub(ret_totals, &was);
	free(owner->base);
	owner->base = base;
	return 0;
}

/* The same of a slot that counts at boundaries only. */
static int steps_advance(struct runq_slots *slots, size_t slot, struct runq_step_totals *ret_totals,
			 struct err *err)
{
	struct runq_owner *owner = slots->owners[slot];
	struct runq_step_totals now;

	slot_steps(slots, slot, &now);
	*ret_totals = now;
	runq_steps_sub(ret_totals, owner->base_steps);
	owner->base_count = runq_steps_count(&now);
	if (owner->base_steps)
		runq_steps_set(owner->base_steps, &now);
	else
		owner->base_steps = runq_steps_copy(&now);
	return owner->base_steps ? 0 : err_set(err, -ENOMEM, "out of memory");
}

/* The largest wait of all cores since the last call, which the cores then begin anew. */
static uint64_t slot_reset_max(struct runq_slots *slots, size_t slot)
{
	unsigned int cpus = slots->chunks.shape.cpus;
	struct runq_cell *cells = (void *)((char *)runq_chunks_slot(&slots->chunks, slot) +
					   runq_cells_at(&slots->chunks.shape));
	uint64_t largest = 0;

	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		struct runq_cell *cell = cells + cpu;
		uint64_t max = 0;

		/* An exchange dirties the cache line of a core that may have nothing new. */
		if (*(volatile uint64_t *)&cell->max_ns)
			max = __atomic_exchange_n(&cell->max_ns, 0, __ATOMIC_RELAXED);
		if (max > largest)
			largest = max;
	}
	return largest;
}

/* Adds what the owner has waited since its base to the list, if it has waited at all. */
static int owner_collect(struct runq_slots *slots, size_t slot, bool ended,
			 struct runq_waits_list *list, struct err *err)
{
	struct runq_step_totals steps;
	struct runq_totals totals;
	int rc;

	/*
	 * Most have not, and a count is all that needs to be read of them. Time whose wait was counted
	 * in an earlier window, or is not counted yet, stays there for the next one with a wait.
	 */
	if (slot_count(slots, slot) == slots->owners[slot]->base_count)
		return 0;
	slots->owners[slot]->told = true;
	if (slots->chunks.shape.steps) {
		rc = steps_advance(slots, slot, &steps, err);
		if (rc || !runq_steps_count(&steps))
			return rc;
		steps.max_ns = slot_reset_max(slots, slot);
		return runq_waits_add_steps(list, slots->owners[slot]->group, ended, &steps, err);
	}
	rc = slot_advance(slots, slot, &totals, err);
	if (rc || !runq_totals_count(&totals))
		return rc;
	totals.max_ns = slot_reset_max(slots, slot);
	return runq_waits_add(list, slots->owners[slot]->group, ended, &totals, err);
}

/*
 * A group that ended without a wait since the last window is a row of zeros, for the exporter: else
 * its series would go on as those of one that is silent.
 */
static int owner_tell_end(struct runq_slots *slots, size_t slot, struct err *err)
{
	struct runq_step_totals no_steps = {.nr = slots->nr_le + 1};
	struct runq_totals none = {0};
	struct runq_owner *owner = slots->owners[slot];

	if (!slots->chunks.fixed || !owner->told)
		return 0;
	return slots->chunks.shape.steps
		       ? runq_waits_add_steps(&slots->ended, owner->group, true, &no_steps, err)
		       : runq_waits_add(&slots->ended, owner->group, true, &none, err);
}

/* The group is over: its last waits are kept for the window, its slot is for the next group. */
static int owner_end(struct runq_slots *slots, size_t slot, struct err *err)
{
	struct runq_owner *owner = slots->owners[slot];
	uint64_t *retired, key = owner->key;
	size_t nr_ended = slots->ended.nr;
	int rc;

	owner->over = false;
	rc = owner_collect(slots, slot, true, &slots->ended, err);
	if (!rc && slots->ended.nr == nr_ended)
		rc = owner_tell_end(slots, slot, err);
	retired = grow(slots->retired, slots->nr_retired, sizeof(*retired));
	if (retired) {
		slots->retired = retired;
		retired[slots->nr_retired++] = key;
	}
	owner->key = 0;
	slots->names_stale = true;
	runq_chunks_slot(&slots->chunks, slot)->key = 0;
	return rc ? rc : runq_chunks_free_slot(&slots->chunks, slot, err);
}

/* Whether the group is gone and has not waited for a while. */
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

/*
 * No task may be counted in a slot that goes to the next group. Out of the index first, so that
 * nobody finds it there again; then one pass over all tasks for all groups that ended.
 */
static void owners_forget(struct runq_slots *slots)
{
	bool any = false;

	for (size_t i = 0; i < runq_chunks_slots(&slots->chunks); i++)
		if (slots->owners[i] && slots->owners[i]->over) {
			bpf_map_delete_elem(slots->index_fd, &slots->owners[i]->key);
			any = true;
		}
	for (size_t i = 0; any && i < RUNQ_NR_TASKS; i++) {
		volatile __u64 *group = &slots->tasks[i].group;
		size_t slot = runq_chunks_at(&slots->chunks, *group >> 32);

		if (slot < runq_chunks_slots(&slots->chunks) && slots->owners[slot] &&
		    slots->owners[slot]->over)
			*group = RUNQ_NO_GROUP;
	}
}

/*
 * Tells the programs of groups that were not asked for: the slot, for tasks that come, then in one
 * pass the tasks that have run. What those waited until now is in the slot, and reports drop it.
 */
static void owners_leave_out(struct runq_slots *slots)
{
	for (size_t i = 0; i < runq_chunks_slots(&slots->chunks); i++)
		if (slots->owners[i] && slots->owners[i]->unwanted)
			__atomic_fetch_or(&runq_chunks_slot(&slots->chunks, i)->depth,
					  RUNQ_UNWANTED, __ATOMIC_RELEASE);
	for (size_t i = 0; i < RUNQ_NR_TASKS; i++) {
		volatile __u64 *group = &slots->tasks[i].group;
		__u64 was = *group;
		size_t slot = runq_chunks_at(&slots->chunks, was >> 32);

		if (slot >= runq_chunks_slots(&slots->chunks) || !slots->owners[slot] ||
		    !slots->owners[slot]->unwanted)
			continue;
		/* The quick path must not match it: as with slots that are not in the first chunk. */
		*group = RUNQ_GROUP(RUNQ_PLACE_UNWANTED,
				    was >> 32 < RUNQ_FAR ? (__u32)was ^ RUNQ_FAR_KEY : (__u32)was);
	}
	for (size_t i = 0; i < runq_chunks_slots(&slots->chunks); i++)
		if (slots->owners[i])
			slots->owners[i]->unwanted = false;
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

static bool place_over(const void *arg, uint32_t place)
{
	const struct runq_slots *slots = arg;
	size_t slot = runq_chunks_at(&slots->chunks, place);

	return slot < runq_chunks_slots(&slots->chunks) && slots->owners[slot] &&
	       slots->owners[slot]->over;
}

/* Ends those that are over, in two steps. */
static int owners_end(struct runq_slots *slots, struct err *err)
{
	int rc = 0;

	owners_forget(slots);
	if (slots->blame)
		rc = runq_blame_leave(slots->blame, &slots->chunks, place_over, slots, err);
	for (size_t i = 0; !rc && i < runq_chunks_slots(&slots->chunks); i++)
		if (slots->owners[i] && slots->owners[i]->over)
			rc = owner_end(slots, i, err);
	return rc;
}

/*
 * Whether a scan has anything to find. Most have not, and then thousands of heads need not be read.
 * The programs' stores have no order: after a change there is one scan more, which surely sees it.
 */
static bool scan_needed(struct runq_slots *slots)
{
	uint64_t changes = __atomic_load_n(slots->changes, __ATOMIC_ACQUIRE);
	bool needed = slots->unsettled || changes != slots->scan_changes;

	slots->unsettled = changes != slots->scan_changes;
	slots->scan_changes = changes;
	return needed;
}

int runq_slots_scan(struct runq_slots *slots, bool at_once, struct err *err)
{
	uint64_t now = clock_mono_ns();
	size_t used = 0, over = 0, unwanted = 0;
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
		if (!slots->owners[i] || slots->owners[i]->key != key) {
			rc = owner_begin(slots, i, key, err);
			unwanted += !rc && slots->owners[i]->unwanted;
		} else if (slots->owners[i]->young) {
			rc = owner_settle(slots, i, err);
		}
		if (rc)
			break;
		slots->unsettled |= slots->owners[i]->young;
		if (!*(const volatile uint32_t *)&head->gone)
			continue;
		slots->unsettled = true;
		slots->owners[i]->over = owner_quiet(slots, i, now);
		over += slots->owners[i]->over;
	}
	if (unwanted)
		owners_leave_out(slots);
	if (!rc && over)
		rc = owners_end(slots, err);
	if (!rc)
		rc = runq_chunks_recount(&slots->chunks, used - over, err);
	/* What failed is left for the next one. */
	slots->unsettled |= rc != 0;
	return rc;
}

static int by_key(const void *a, const void *b)
{
	uint64_t left = (*(struct runq_group *const *)a)->key;
	uint64_t right = (*(struct runq_group *const *)b)->key;

	return left < right ? -1 : left > right;
}

/* Holds every group of the window, so that what blame names stays until the next one. */
static int names_build(struct runq_slots *slots, struct err *err)
{
	size_t nr_slots = runq_chunks_slots(&slots->chunks), nr = 0;

	names_clear(slots);
	slots->names = calloc(nr_slots + slots->waits.nr + 1, sizeof(*slots->names));
	if (!slots->names)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < nr_slots; i++)
		if (slots->owners[i] && slots->owners[i]->key)
			slots->names[nr++] = runq_group_get(slots->owners[i]->group);
	for (size_t i = 0; i < slots->waits.nr; i++)
		slots->names[nr++] = runq_group_get(slots->waits.waits[i].group);
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
	/* Groups that came up since the last window. */
	for (size_t i = 0; i < runq_chunks_slots(&slots->chunks); i++)
		if (slots->owners[i] && slots->owners[i]->key == key)
			return slots->owners[i]->group;
	return NULL;
}

int runq_slots_window(struct runq_slots *slots, struct err *err)
{
	bool ended;
	int rc;

	rc = runq_slots_scan(slots, true, err);
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
	/* Groups that ended are among them until the next window. */
	slots->names_stale = ended;
	return names_build(slots, err);
}
