/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who owns which slot, and what each owner has waited. */
#include "measure/runq/slots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/clock.h"
#include "sys/bpf.h"

/* Between two scans that find nothing to hurry for. */
#define SCAN_EVERY_NS (50 * NSEC_PER_MSEC)
/* A removed cgroup's last tasks may still wait once or twice; then it stays quiet. */
#define QUIET_NS (50 * NSEC_PER_MSEC)

/* Slots beyond those in use: this many, and a quarter of those in use up to so many more. */
#define SPARE_MIN  256
#define SPARE_MORE 512

struct runq_owner {
	uint64_t key; /* 0: the slot is free */
	struct runq_group *group;
	struct runq_packed *base; /* where this owner's current window began */
	uint64_t gone_ns;	  /* when its end was first noticed */
	uint64_t gone_count;
};

unsigned int runq_stripes(unsigned int cpus)
{
	unsigned int stripes = 1;

	while (stripes < cpus && stripes < RUNQ_MAX_STRIPES)
		stripes *= 2;
	return stripes;
}

int runq_chunk_create(unsigned int stripes, unsigned int cpus, struct err *err)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "runq_chunk", sizeof(uint32_t),
				RUNQ_SLOT_SIZE(stripes, cpus), RUNQ_CHUNK, &opts);

	return fd < 0 ? sys_bpf_fail(err, -errno, "cannot make room for groups of tasks") : fd;
}

static size_t chunk_len(const struct runq_slots *slots)
{
	size_t page = getpagesize();

	return (slots->slot_size * RUNQ_CHUNK + page - 1) / page * page;
}

static struct runq_head *slot_head(const struct runq_slots *slots, size_t slot)
{
	return (void *)(slots->chunk[slot / RUNQ_CHUNK] + slot % RUNQ_CHUNK * slots->slot_size);
}

static int slot_free(struct runq_slots *slots, uint32_t slot, struct err *err)
{
	if (bpf_map_update_elem(slots->free_fd, NULL, &slot, BPF_ANY))
		return sys_bpf_fail(err, -errno, "cannot hand out a slot");
	slots->nr_free++;
	return 0;
}

/* The first chunk is a map that the programs know by name, the others hang in an array. */
static int chunk_add(struct runq_slots *slots, int fd, struct err *err)
{
	uint32_t chunk = slots->nr_chunks;
	void *view = mmap(NULL, chunk_len(slots), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int rc = 0;

	if (view == MAP_FAILED)
		return sys_bpf_fail(err, -errno, "cannot map a chunk of slots");
	/* Waits for a grace period, some 10 ms: this is why chunks are not small. */
	if (chunk && bpf_map_update_elem(slots->chunks_fd, &chunk, &fd, BPF_ANY)) {
		rc = sys_bpf_fail(err, -errno, "cannot lay in a chunk of slots");
		munmap(view, chunk_len(slots));
		return rc;
	}
	slots->chunk[slots->nr_chunks++] = view;
	for (uint32_t i = 0; !rc && i < RUNQ_CHUNK; i++)
		if (chunk || i) /* slot 0 is that of what finds none */
			rc = slot_free(slots, chunk * RUNQ_CHUNK + i, err);
	return rc;
}

static int chunk_new(struct runq_slots *slots, struct err *err)
{
	int fd = runq_chunk_create(slots->stripes, slots->cpus, err), rc;

	if (fd < 0)
		return fd;
	rc = chunk_add(slots, fd, err);
	close(fd);
	return rc;
}

static size_t slots_laid(const struct runq_slots *slots)
{
	return slots->nr_chunks ? slots->nr_chunks * RUNQ_CHUNK - 1 : 0;
}

int runq_slots_refill(struct runq_slots *slots, size_t taken, struct err *err)
{
	size_t used, want;
	int rc = 0;

	slots->nr_free -= taken < slots->nr_free ? taken : slots->nr_free;
	used = slots_laid(slots) - slots->nr_free;
	/* Room for as many as may be created before we run again. */
	if (slots->fixed && slots->opened)
		return 0;
	want = SPARE_MIN + (used / 4 < SPARE_MORE ? used / 4 : SPARE_MORE);
	while (!rc && slots->nr_free < want && slots->nr_chunks < RUNQ_NR_CHUNKS)
		rc = chunk_new(slots, err);
	return rc;
}

int runq_slots_open(struct runq_slots *slots, int first_fd, size_t nr_groups, struct err *err)
{
	int rc;

	slots->slot_size = RUNQ_SLOT_SIZE(slots->stripes, slots->cpus);
	rc = chunk_add(slots, first_fd, err);
	while (!rc && slots->nr_free < nr_groups && slots->nr_chunks < RUNQ_NR_CHUNKS)
		rc = chunk_new(slots, err);
	if (!rc)
		rc = runq_slots_refill(slots, nr_groups < slots->nr_free ? nr_groups : 0, err);
	/* None is taken yet. */
	slots->nr_free = slots_laid(slots);
	slots->opened = true;
	return rc;
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
	for (unsigned int i = 0; i < slots->nr_chunks; i++)
		munmap(slots->chunk[i], chunk_len(slots));
	for (size_t i = 0; i < RUNQ_NR_SLOTS; i++) {
		if (slots->owners[i]) {
			runq_group_put(slots->owners[i]->group);
			free(slots->owners[i]->base);
		}
		free(slots->owners[i]);
	}
	runq_waits_clear(&slots->waits);
	runq_waits_clear(&slots->ended);
	names_clear(slots);
	free(slots->retired);
}

/* Leaf-first names to "/a/b"; @head may be torn only while its key changes. */
static char *head_path(const struct runq_head *head)
{
	const char *part[RUNQ_DEPTH], *at = head->path, *end = at + sizeof(head->path);
	unsigned int nr = 0;
	size_t len = 8;
	char *path;

	while (nr < head->depth && nr < RUNQ_DEPTH && at < end && *at) {
		size_t part_len = strnlen(at, end - at);

		part[nr++] = at;
		len += part_len + 1;
		at += part_len + 1;
	}
	path = malloc(len);
	if (!path)
		return NULL;
	/* Deeper than what was kept: say so rather than pretend a root. */
	strcpy(path, head->depth >= RUNQ_DEPTH ? "/…" : nr ? "" : "/");
	while (nr--) {
		strcat(path, "/");
		strncat(path, part[nr], end - part[nr]);
	}
	return path;
}

static char *head_name(const struct runq_slots *slots, const struct runq_head *head)
{
	char *name = NULL;
	int len = 0;

	switch (slots->per) {
	case RUNQ_PER_CGROUP:
	case RUNQ_PER_TASK:
		return head_path(head);
	case RUNQ_PER_COMM:
		len = asprintf(&name, "%.16s", head->comm);
		break;
	case RUNQ_PER_CPU:
		len = asprintf(&name, "CPU %llu", (unsigned long long)head->key - 1);
		break;
	}
	return len < 0 ? NULL : name;
}

static int owner_begin(struct runq_slots *slots, size_t slot, uint64_t key, struct err *err)
{
	const struct runq_head *head = slot_head(slots, slot);
	struct runq_owner *owner = slots->owners[slot];
	struct runq_group group = {.key = key};
	char *name;

	if (!owner)
		owner = slots->owners[slot] = calloc(1, sizeof(*owner));
	if (!owner)
		return err_set(err, -ENOMEM, "out of memory");
	/* Everything else was there before the key; see slot_find(). */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	group.cgroup_id = head->cgroup_id;
	group.cpu = slots->per == RUNQ_PER_CPU ? key - 1 : 0;
	group.pid = head->pid;
	group.tgid = head->tgid;
	memcpy(group.comm, head->comm, sizeof(head->comm));
	name = slot ? head_name(slots, head) : strdup("(other)");
	runq_group_put(owner->group);
	owner->key = 0;
	owner->group = name ? runq_group_new(&group, name) : NULL;
	free(name);
	if (!owner->group)
		return err_set(err, -ENOMEM, "out of memory");
	owner->gone_ns = 0;
	owner->key = key;
	return 0;
}

/* What is new in the slot; the base is where the next window begins. */
static int slot_take(struct runq_slots *slots, size_t slot, struct runq_totals *ret_totals,
		     struct err *err)
{
	struct runq_owner *owner = slots->owners[slot];
	struct runq_totals was;
	struct runq_packed *base;

	runq_slot_sum(slot_head(slots, slot), slots->stripes, slots->cpus, ret_totals);
	base = runq_pack(ret_totals);
	if (!base)
		return err_set(err, -ENOMEM, "out of memory");
	runq_unpack(owner->base, &was);
	runq_totals_sub(ret_totals, &was);
	free(owner->base);
	owner->base = base;
	return 0;
}

static void slot_take_max(struct runq_slots *slots, size_t slot, struct runq_totals *totals)
{
	struct runq_cell *cells = (void *)((char *)slot_head(slots, slot) + RUNQ_CELLS);

	for (unsigned int cpu = 0; cpu < slots->cpus; cpu++) {
		uint64_t max = 0;

		if (*(volatile uint64_t *)&cells[cpu].max_ns)
			max = __atomic_exchange_n(&cells[cpu].max_ns, 0, __ATOMIC_RELAXED);
		if (max > totals->max_ns)
			totals->max_ns = max;
	}
}

/* Adds what the owner has waited since its base to the list; nothing if that is no wait. */
static int owner_take(struct runq_slots *slots, size_t slot, bool ended,
		      struct runq_waits_list *list, struct err *err)
{
	struct runq_totals totals;
	int rc;

	rc = slot_take(slots, slot, &totals, err);
	if (rc || !runq_totals_count(&totals))
		return rc;
	slot_take_max(slots, slot, &totals);
	return runq_waits_add(list, slots->owners[slot]->group, ended, &totals, err);
}

/* The group is over: its last window is kept aside, its slot is for the next one. */
static int owner_end(struct runq_slots *slots, size_t slot, struct err *err)
{
	struct runq_owner *owner = slots->owners[slot];
	uint64_t *retired, key = owner->key;
	int rc;

	bpf_map_delete_elem(slots->index_fd, &key);
	for (unsigned int cpu = 0; cpu < slots->cpus; cpu++)
		if (slots->cpu[cpu].cache[key % RUNQ_NR_CACHE].key == key)
			slots->cpu[cpu].cache[key % RUNQ_NR_CACHE].key = 0;
	rc = owner_take(slots, slot, true, &slots->ended, err);
	retired = runq_grow(slots->retired, slots->nr_retired, sizeof(*retired));
	if (retired) {
		slots->retired = retired;
		retired[slots->nr_retired++] = key;
	}
	owner->key = 0;
	slot_head(slots, slot)->key = 0;
	return rc ? rc : slot_free(slots, slot, err);
}

static uint64_t slot_count(const struct runq_slots *slots, size_t slot)
{
	struct runq_totals totals;

	runq_slot_sum(slot_head(slots, slot), slots->stripes, slots->cpus, &totals);
	return runq_totals_count(&totals);
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
	return false;
}

int runq_slots_scan(struct runq_slots *slots, bool at_once, struct err *err)
{
	uint64_t now = clock_mono_ns();
	size_t used = 0;
	int rc = 0;

	if (!at_once && now - slots->scan_ns < SCAN_EVERY_NS)
		return 0;
	slots->scan_ns = now;
	for (size_t i = 0; !rc && i < slots->nr_chunks * RUNQ_CHUNK; i++) {
		const struct runq_head *head = slot_head(slots, i);
		uint64_t key = i ? __atomic_load_n(&head->key, __ATOMIC_ACQUIRE) : RUNQ_KEY_OTHER;

		if (!key)
			continue;
		used += i != 0;
		if (!slots->owners[i] || slots->owners[i]->key != key)
			rc = owner_begin(slots, i, key, err);
		if (!rc && *(const volatile uint32_t *)&head->gone && owner_quiet(slots, i, now)) {
			rc = owner_end(slots, i, err);
			used--;
		}
	}
	if (used <= slots_laid(slots))
		slots->nr_free = slots_laid(slots) - used;
	return rc ? rc : runq_slots_refill(slots, 0, err);
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
	size_t nr = 0;

	names_clear(slots);
	slots->names =
		calloc(slots->nr_chunks * RUNQ_CHUNK + slots->waits.nr + 1, sizeof(*slots->names));
	if (!slots->names)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < slots->nr_chunks * RUNQ_CHUNK; i++)
		if (slots->owners[i] && slots->owners[i]->key)
			slots->names[nr++] = runq_group_get(slots->owners[i]->group);
	for (size_t i = 0; i < slots->waits.nr; i++)
		slots->names[nr++] = runq_group_get(slots->waits.waits[i].group);
	qsort(slots->names, nr, sizeof(*slots->names), by_key);
	slots->nr_names = nr;
	return 0;
}

const struct runq_group *runq_slots_find(const struct runq_slots *slots, uint64_t key)
{
	const struct runq_group want = {.key = key}, *at = &want;
	struct runq_group **name = slots->nr_names ? bsearch(&at, slots->names, slots->nr_names,
							     sizeof(*slots->names), by_key)
						   : NULL;

	if (name)
		return *name;
	/* Who came since the last window. */
	for (size_t i = 0; i < slots->nr_chunks * RUNQ_CHUNK; i++)
		if (slots->owners[i] && slots->owners[i]->key == key)
			return slots->owners[i]->group;
	return NULL;
}

int runq_slots_window(struct runq_slots *slots, struct err *err)
{
	int rc;

	rc = runq_slots_scan(slots, true, err);
	runq_waits_clear(&slots->waits);
	slots->waits = slots->ended;
	slots->ended = (struct runq_waits_list){0};
	for (size_t i = 0; !rc && i < slots->nr_chunks * RUNQ_CHUNK; i++)
		if (slots->owners[i] && slots->owners[i]->key)
			rc = owner_take(slots, i, slots->owners[i]->gone_ns, &slots->waits, err);
	runq_waits_merge(&slots->waits);
	return rc ? rc : names_build(slots, err);
}
