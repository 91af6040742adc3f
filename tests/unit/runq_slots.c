/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the reuse of counter slots: a group never has waits of the slot's previous group. */
#include "measure/runq/slots.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/clock.h"
#include "stats/hist.h"
#include "runq_rows.h"
#include "test.h"

#define CPUS	  ROWS_CPUS
#define FREE_FD	  1001
#define INDEX_FD  1002
#define CHUNKS_FD 1003
#define NR_LE	  1
#define LE_NS	  2500 /* the only bucket boundary of counter slots without a fine histogram */

static uint64_t now_ns;
static uint32_t free_slot[16 * RUNQ_CHUNK];
static size_t nr_free;
static unsigned int nr_created, nr_hung;
static uint64_t forgotten[8]; /* keys of groups deleted from the index of counter slots */
static size_t nr_forgotten;

static struct runq_slots slots;
static __u64 changes; /* times that a group began or ended, counted by the BPF programs */
static struct runq_task tasks[RUNQ_NR_TASKS];
static _Alignas(64) char first_memory[RUNQ_FIRST_BYTES];

/* Test doubles of the functions for BPF maps and the clock; see meson.build. */
int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	*ts = clock_timespec(now_ns);
	return 0;
}

int __wrap_bpf_map_create(enum bpf_map_type type, const char *name, __u32 key_size,
			  __u32 value_size, __u32 max_entries,
			  const struct bpf_map_create_opts *opts)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	assert_int_equal(type, BPF_MAP_TYPE_ARRAY);
	assert_true(opts->map_flags & BPF_F_MMAPABLE);
	assert_int_equal(key_size, sizeof(uint32_t));
	assert_int_equal(ftruncate(fd, (off_t)value_size * max_entries + 65536), 0);
	nr_created++;
	return fd;
}

int __wrap_bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	if (fd == FREE_FD) {
		assert_true(nr_free < sizeof(free_slot) / sizeof(free_slot[0]));
		free_slot[nr_free++] = *(const uint32_t *)value;
	} else if (!rows_update(fd, value)) {
		assert_int_equal(fd, CHUNKS_FD);
		nr_hung++;
	}
	return 0;
}

int __wrap_bpf_map_delete_elem(int fd, const void *key)
{
	if (!rows_delete(fd, key))
		forgotten[nr_forgotten++] = *(const uint64_t *)key;
	return 0;
}

static int setup_as(bool steps)
{
	struct err err = {0};

	now_ns = 1000 * NSEC_PER_SEC;
	nr_free = nr_forgotten = 0;
	nr_created = nr_hung = 0;
	memset(first_memory, 0, sizeof(first_memory));
	for (size_t i = 0; i < RUNQ_NR_TASKS; i++)
		tasks[i] = (struct runq_task){RUNQ_NO_DELAY, RUNQ_NO_GROUP};
	slots = (struct runq_slots){.per = RUNQ_PER_CGROUP, .index_fd = INDEX_FD, .changes = &changes,
				     .tasks = tasks};
	slots.chunks.shape = (struct runq_shape){
		.stripes = runq_stripes(CPUS), .cpus = CPUS, .steps = steps, .nr_le = NR_LE};
	slots.chunks.free_fd = FREE_FD;
	slots.chunks.chunks_fd = CHUNKS_FD;
	return runq_slots_open(&slots, first_memory, 10, &err);
}

static int setup(void **state)
{
	return setup_as(false);
}

static int setup_steps(void **state)
{
	return setup_as(true);
}

static int teardown(void **state)
{
	runq_slots_close(&slots);
	return 0;
}

/* Defines a test that runs twice: with fine histograms, and with counts at boundaries only. */
#define TEST_BOTH(test)                                                                                \
	static void test(void **state);                                                                \
	__attribute__((constructor)) static void add_both_##test(void)                                 \
	{                                                                                              \
		unit_tests[nr_unit_tests++] =                                                          \
			(struct CMUnitTest)cmocka_unit_test_setup_teardown(test, setup_steps, teardown); \
	}                                                                                              \
	TEST_WITH(test, setup, teardown)

/* Returns the number by which BPF programs refer to counter slot @slot. */
static uint32_t slot_ref_of(uint32_t slot)
{
	if (slot < slots.chunks.first_slots)
		return slot * slots.chunks.slot_size;
	return RUNQ_LATER_CHUNK + slot - slots.chunks.first_slots;
}

static void group_begins(uint32_t slot, uint64_t key, const char *name)
{
	struct runq_head *head = runq_chunks_slot(&slots.chunks, slot);

	head->gone = 0;
	head->cgroup_id = key * 10;
	strcpy(head->path, name);
	head->depth = 1;
	head->key = key;
	changes++;
	tasks[key].group = tasks[key + 1000].group = RUNQ_GROUP(slot_ref_of(slot), key);
}

static void group_ends(uint32_t slot)
{
	runq_chunks_slot(&slots.chunks, slot)->gone = 1;
	changes++;
}

static void waits(uint32_t slot, unsigned int cpu, uint64_t ns, uint64_t nr)
{
	char *at = (char *)runq_chunks_slot(&slots.chunks, slot);
	struct runq_cell *cell =
		(struct runq_cell *)(at + runq_cells_at(&slots.chunks.shape)) + cpu;
	struct runq_hist *hist = (struct runq_hist *)(at + RUNQ_HISTS) + cpu;
	struct runq_steps *steps = (struct runq_steps *)(at + RUNQ_HISTS) + cpu;

	if (slots.chunks.shape.steps)
		steps->count[ns > LE_NS] += nr;
	else
		hist->count[hist_index(ns)] += nr;
	cell->cause_ns[RUNQ_OTHER] += nr * ns;
	if (ns > cell->max_ns)
		cell->max_ns = ns;
}

static void end_window(void)
{
	struct err err = {0};

	now_ns += NSEC_PER_SEC;
	assert_int_equal(runq_slots_window(&slots, &err), 0);
}

static void scan_after(uint64_t ns)
{
	struct err err = {0};

	now_ns += ns;
	assert_int_equal(runq_slots_scan(&slots, true, &err), 0);
}

/* Checks the row of a group in the last window. */
static void expect(const char *path, uint64_t count, uint64_t sum_ns, uint64_t max_ns, bool ended)
{
	unsigned int found = 0;

	for (size_t i = 0; i < slots.waits.nr; i++) {
		const struct runq_group_window *row = &slots.waits.rows[i];
		struct hist_scale scale = runq_scale(slots.chunks.shape.steps, NULL, NR_LE);

		if (strcmp(runq_party_path(&row->party), path))
			continue;
		found++;
		assert_int_equal(row->sum_ns, sum_ns);
		assert_int_equal(row->count, count);
		assert_int_equal(hist_values(&scale, &row->hist), count);
		assert_int_equal(row->max_ns, max_ns);
		assert_int_equal(row->ended, ended);
	}
	assert_int_equal(found, count > 0);
}

/*
 * A BPF program stores the count and the time of a wait separately. A window that ends between the
 * two stores loses neither the count nor the time.
 */
TEST_BOTH(test_between_stores)
{
	struct runq_cell *cell;

	group_begins(5, 105, "a");
	cell = (struct runq_cell *)((char *)runq_chunks_slot(&slots.chunks, 5) +
				    runq_cells_at(&slots.chunks.shape));
	waits(5, 0, 1000, 3);
	/* A BPF program has counted the last wait, but has not yet added its 1000 ns. */
	cell->cause_ns[RUNQ_OTHER] -= 1000;
	end_window();
	expect("/a", 3, 2000, 1000, false);
	cell->cause_ns[RUNQ_OTHER] += 1000;
	end_window();
	assert_int_equal(slots.waits.nr, 0);
	waits(5, 1, 2000, 1);
	end_window();
	expect("/a", 1, 3000, 2000, false);
}

TEST_WITH(test_others, setup, teardown)
{
	waits(0, 0, 70, 2);
	end_window();
	expect("(other)", 2, 140, 70, false);
}

/* All waits of an ended cgroup are counted. The next cgroup in the counter slot starts at 0. */
TEST_BOTH(test_slot_changes_hands)
{
	size_t before = nr_free;

	group_begins(5, 105, "a");
	waits(5, 0, 1000, 3);
	end_window();
	group_ends(5);
	waits(5, 1, 500, 1);
	scan_after(NSEC_PER_MSEC);
	/* A further wait of the removed group delays the reuse of the counter slot. */
	waits(5, 0, 600, 1);
	scan_after(60 * NSEC_PER_MSEC);
	scan_after(10 * NSEC_PER_MSEC);
	assert_int_equal(nr_forgotten, 0);
	scan_after(41 * NSEC_PER_MSEC);
	/*
	 * The index and the entries of the tasks no longer refer to the ended group 105. Counter
	 * slot 5 is free again.
	 */
	assert_int_equal(nr_forgotten, 1);
	assert_int_equal(forgotten[0], 105);
	assert_true(tasks[105].group == RUNQ_NO_GROUP && tasks[1105].group == RUNQ_NO_GROUP);
	assert_int_equal(nr_free, before + 1);
	assert_int_equal(free_slot[before], 5);
	assert_int_equal(runq_chunks_slot(&slots.chunks, 5)->key, 0);
	assert_int_equal(slots.nr_retired, 1);
	assert_int_equal(slots.retired[0], 105);
	/*
	 * The counters of the slot are not reset, but the waits of the slot's next group are
	 * counted from zero.
	 */
	group_begins(5, 169, "b");
	waits(5, 0, 200, 1);
	end_window();
	expect("/a", 2, 1100, 600, true);
	expect("/b", 1, 200, 200, false);
	end_window();
	assert_int_equal(slots.waits.nr, 0);
	assert_true(tasks[169].group == RUNQ_GROUP(slot_ref_of(5), 169));
	assert_string_equal(runq_slots_find(&slots, 169)->path, "/b");
	assert_null(runq_slots_find(&slots, 105));
}

/* A group that ends and later waits again in another counter slot has a single row. */
TEST_BOTH(test_come_back)
{
	group_begins(5, 105, "a");
	waits(5, 0, 1000, 3);
	group_ends(5);
	scan_after(NSEC_PER_MSEC);
	scan_after(60 * NSEC_PER_MSEC);
	assert_int_equal(nr_forgotten, 1);
	group_begins(6, 105, "a");
	waits(6, 1, 4000, 1);
	end_window();
	expect("/a", 4, 7000, 4000, true);
}

TEST_WITH(test_unwanted, setup, teardown)
{
	struct runq_group *asked = runq_group_new(&(struct runq_group){0}, "/a");
	struct runq_filter filter = {.requested = &asked, .nr = 1};
	uint32_t far = slots.chunks.first_slots + 3;

	slots.filter = &filter;
	group_begins(5, 105, "a");
	group_begins(6, 106, "b");
	strcpy(runq_chunks_slot(&slots.chunks, 7)->path + 6, "a");
	group_begins(7, 107, "child");
	runq_chunks_slot(&slots.chunks, 7)->depth = 2;
	group_begins(far, 108, "far");
	tasks[108].group ^= RUNQ_SLOW_KEY;
	tasks[1108].group ^= RUNQ_SLOW_KEY;
	scan_after(NSEC_PER_MSEC);
	assert_true(tasks[105].group == RUNQ_GROUP(slot_ref_of(5), 105));
	assert_true(tasks[107].group == RUNQ_GROUP(slot_ref_of(7), 107));
	assert_true(tasks[106].group == RUNQ_GROUP(RUNQ_SLOT_UNWANTED, 106 ^ RUNQ_SLOW_KEY));
	assert_true(tasks[1106].group == tasks[106].group);
	assert_true(tasks[108].group == RUNQ_GROUP(RUNQ_SLOT_UNWANTED, 108 ^ RUNQ_SLOW_KEY));
	assert_int_equal(runq_chunks_slot(&slots.chunks, 5)->depth, 1);
	assert_int_equal(runq_chunks_slot(&slots.chunks, 6)->depth, 1 | RUNQ_UNWANTED);
	assert_int_equal(runq_chunks_slot(&slots.chunks, far)->depth, 1 | RUNQ_UNWANTED);
	/*
	 * A new group gets counter slot 6 of an excluded group. The filter rules are applied to the
	 * name of the new group.
	 */
	group_ends(6);
	scan_after(NSEC_PER_MSEC);
	scan_after(60 * NSEC_PER_MSEC);
	strcpy(runq_chunks_slot(&slots.chunks, 6)->path + 4, "a");
	group_begins(6, 109, "new");
	runq_chunks_slot(&slots.chunks, 6)->depth = 2;
	scan_after(NSEC_PER_MSEC);
	assert_true(tasks[109].group == RUNQ_GROUP(slot_ref_of(6), 109));
	assert_string_equal(runq_slots_find(&slots, 109)->path, "/a/new");
	runq_group_put(asked);
}

/* A rule about names excludes a pod only after the pod's name is known. */
TEST_WITH(test_unwanted_by_name, setup, teardown)
{
	struct runq_group_names names = {.namespace = "batch", .pod = "job-1"};
	struct runq_rules rules = {0};
	struct runq_filter filter = {.rules = &rules};
	struct runq_group *group;
	struct err err = {0};

	assert_int_equal(runq_rules_add(&rules, true, "namespace=shop", &err), 0);
	assert_int_equal(runq_rules_add(&rules, false, "qos=guaranteed", &err), 0);
	slots.filter = &filter;
	group_begins(5, 105, "pod0a1b2c3d-4e5f-6789-abcd-ef0123456789");
	group_begins(6, 106, "service");
	scan_after(NSEC_PER_MSEC);
	/*
	 * Group 106 is not a pod, so no rule by namespace can include it. Group 105 is a pod whose
	 * namespace is still unknown.
	 */
	assert_int_equal(runq_chunks_slot(&slots.chunks, 6)->depth, 1 | RUNQ_UNWANTED);
	assert_int_equal(runq_chunks_slot(&slots.chunks, 5)->depth, 1);
	runq_slots_named(&slots);
	assert_int_equal(runq_chunks_slot(&slots.chunks, 5)->depth, 1);
	assert_true(tasks[105].group == RUNQ_GROUP(slot_ref_of(5), 105));
	group = (struct runq_group *)runq_slots_find(&slots, 105);
	group->names = &names;
	runq_slots_named(&slots);
	assert_int_equal(runq_chunks_slot(&slots.chunks, 5)->depth, 1 | RUNQ_UNWANTED);
	assert_true(tasks[105].group == RUNQ_GROUP(RUNQ_SLOT_UNWANTED, 105 ^ RUNQ_SLOW_KEY));
	group->names = NULL;
	runq_rules_free(&rules);
}

TEST_WITH(test_new_key, setup, teardown)
{
	group_begins(5, 105, "a");
	waits(5, 0, 1000, 1);
	end_window();
	group_begins(5, 106, "b");
	waits(5, 0, 300, 1);
	end_window();
	expect("/b", 1, 300, 300, false);
	assert_int_equal(runq_slots_find(&slots, 106)->cgroup_id, 1060);
}

/* On arm64 a reader can see the key of a new group together with the old name. */
TEST_WITH(test_key_before_name, setup, teardown)
{
	group_begins(5, 105, "old");
	waits(5, 0, 1000, 1);
	end_window();
	strcpy(runq_chunks_slot(&slots.chunks, 5)->path, "new");
	waits(5, 0, 300, 1);
	end_window();
	expect("/new", 1, 300, 300, false);
	assert_string_equal(runq_slots_find(&slots, 105)->path, "/new");
}

/*
 * A reader may see the growth of the change counter before the key of the new group, so the slots
 * are scanned twice after each growth.
 */
TEST_WITH(test_change_before_key, setup, teardown)
{
	struct runq_head *head = runq_chunks_slot(&slots.chunks, 5);

	/* Slot 0 has the waits of all groups that got no slot. */
	scan_after(NSEC_PER_MSEC);
	scan_after(NSEC_PER_MSEC);
	group_begins(5, 105, "a");
	head->key = 0;
	scan_after(NSEC_PER_MSEC);
	head->key = 105;
	scan_after(NSEC_PER_MSEC);
	assert_string_equal(runq_slots_find(&slots, 105)->path, "/a");
	/* A counter slot is read twice after a change, and then skipped. */
	scan_after(NSEC_PER_MSEC);
	scan_after(NSEC_PER_MSEC);
	head->key = 106;
	scan_after(NSEC_PER_MSEC);
	assert_null(runq_slots_find(&slots, 106));
	changes++;
	scan_after(NSEC_PER_MSEC);
	assert_non_null(runq_slots_find(&slots, 106));
}

TEST_WITH(test_gone_is_reported, setup, teardown)
{
	group_begins(5, 105, "a");
	group_ends(5);
	waits(5, 0, 1000, 1);
	end_window();
	expect("/a", 1, 1000, 1000, true);
}

static size_t rows_ended_of(const char *path)
{
	size_t nr = 0;

	for (size_t i = 0; i < slots.waits.nr; i++)
		nr += !strcmp(runq_party_path(&slots.waits.rows[i].party), path) &&
		      slots.waits.rows[i].ended && !slots.waits.rows[i].sum_ns;
	return nr;
}

static void ends_silently(uint32_t slot)
{
	group_ends(slot);
	scan_after(NSEC_PER_MSEC);
	scan_after(60 * NSEC_PER_MSEC);
	end_window();
}

/* The exporter is notified of the end of a group even if its last window has no waits. */
TEST_BOTH(test_end_is_told)
{
	for (int fixed = 0; fixed < 2; fixed++) {
		slots.chunks.fixed = fixed;
		group_begins(5, 105 + fixed, "a");
		group_begins(6, 115 + fixed, "b");
		waits(5, 0, 1000, 1);
		end_window();
		ends_silently(5);
		assert_int_equal(rows_ended_of("/a"), fixed);
		ends_silently(6);
		assert_int_equal(rows_ended_of("/b"), 0);
		end_window();
		assert_int_equal(slots.waits.nr, 0);
	}
	slots.chunks.fixed = false;
}

/* Counter slots are added before the last free counter slot is used. Scans run every 50 ms. */
TEST_WITH(test_refill, setup, teardown)
{
	unsigned int created = nr_created;
	struct err err = {0};

	assert_true(nr_free >= 256);
	assert_int_equal(nr_free, runq_chunks_slots(&slots.chunks) - 1);
	for (size_t i = 0; i < nr_free; i++)
		assert_int_equal(free_slot[i], i + 1);
	assert_int_equal(runq_chunks_refill(&slots.chunks, 0, &err), 0);
	assert_int_equal(nr_created, created);
	assert_int_equal(runq_chunks_refill(&slots.chunks, nr_free - 200, &err), 0);
	assert_int_equal(nr_created, created + 1);
	assert_int_equal(nr_hung, nr_created);
	scan_after(0);
	group_begins(5, 105, "a");
	now_ns += 49 * NSEC_PER_MSEC;
	assert_int_equal(runq_slots_scan(&slots, false, &err), 0);
	assert_null(runq_slots_find(&slots, 105));
	now_ns += NSEC_PER_MSEC;
	assert_int_equal(runq_slots_scan(&slots, false, &err), 0);
	assert_non_null(runq_slots_find(&slots, 105));
}

static void cell_charge(size_t cell, uint64_t pair, uint64_t ns)
{
	rows_cells[cell].pair = pair;
	rows_cells[cell].wait_ns += ns;
	rows_cells[cell].count++;
}

/* The blame tables of the cores are added to the rows in each window, also for groups that end. */
TEST_WITH(test_blame_cells, setup, teardown)
{
	struct runq_row *list;
	size_t nr;

	rows_begin();
	slots.blame = &rows_table;
	group_begins(5, 105, "a");
	group_begins(6, 106, "b");
	end_window();
	rows_charge(105, 106, 1000);
	cell_charge(7, RUNQ_PAIR(slot_ref_of(5), slot_ref_of(6)), 100);
	cell_charge(RUNQ_NR_PAIRS + 7, RUNQ_PAIR(slot_ref_of(5), slot_ref_of(6)), 10);
	cell_charge(8, RUNQ_PAIR(slot_ref_of(6), RUNQ_WHO_IDLE), 5);
	nr = rows_read(&slots.chunks, NULL, 0, &list);
	assert_int_equal(nr, 2);
	assert_int_equal(rows_blamed(list, nr, 105, 106), 1110);
	assert_int_equal(rows_blamed(list, nr, 106, RUNQ_KEY_IDLE), 5);
	assert_int_equal(rows_read(&slots.chunks, NULL, 0, &list), 0);
	/*
	 * When a culprit ends, its blame is reported, its entries in the per-CPU tables are freed,
	 * and its counter slot is reused.
	 */
	cell_charge(7, RUNQ_PAIR(slot_ref_of(5), slot_ref_of(6)), 30);
	cell_charge(8, RUNQ_PAIR(slot_ref_of(6), RUNQ_WHO_IDLE), 2);
	group_ends(6);
	scan_after(NSEC_PER_MSEC);
	scan_after(60 * NSEC_PER_MSEC);
	assert_true(!rows_cells[7].pair && !rows_cells[8].pair &&
		    !rows_cells[RUNQ_NR_PAIRS + 7].pair);
	group_begins(6, 170, "c");
	cell_charge(7, RUNQ_PAIR(slot_ref_of(5), slot_ref_of(6)), 4);
	end_window();
	nr = rows_read(&slots.chunks, slots.retired, slots.nr_retired, &list);
	assert_int_equal(nr, 3);
	assert_int_equal(rows_blamed(list, nr, 105, 106), 30);
	assert_int_equal(rows_blamed(list, nr, 106, RUNQ_KEY_IDLE), 2);
	assert_int_equal(rows_blamed(list, nr, 105, 170), 4);
	slots.blame = NULL;
	runq_blame_close(&rows_table);
}

static void window_with_blame(void)
{
	struct runq_row *list;

	end_window();
	rows_read(&slots.chunks, slots.retired, slots.nr_retired, &list);
	slots.nr_retired = 0;
}

/*
 * A core creates a blame row of group 106 just after group 106 has ended. Only blame rows of group
 * 106 are freed.
 */
TEST_WITH(test_blame_of_ended, setup, teardown)
{
	const struct runq_pair silent = {105, RUNQ_KEY_IDLE}, late = {105, 106}, young = {105, 107};

	rows_begin();
	rows_table.ended = runq_slots_ended;
	rows_table.arg = &slots;
	slots.blame = &rows_table;
	group_begins(5, 105, "a");
	group_begins(6, 106, "b");
	rows_charge(105, RUNQ_KEY_IDLE, 1);
	window_with_blame();
	waits(6, 0, 1000, 1);
	group_ends(6);
	scan_after(NSEC_PER_MSEC);
	scan_after(60 * NSEC_PER_MSEC);
	window_with_blame();
	/* The last window of an ended group still contains its last waits and its name. */
	assert_non_null(runq_slots_find(&slots, 106));
	assert_true(runq_slots_ended(&slots, 106));
	rows_charge(105, 106, 1000);
	/* Group 107 begins. The next scan finds the counter slot of group 107. */
	rows_charge(105, 107, 10);
	window_with_blame();
	group_begins(7, 107, "c");
	assert_non_null(rows_find_pair(&late));
	window_with_blame();
	assert_null(rows_find_pair(&late));
	window_with_blame();
	assert_non_null(rows_find_pair(&young));
	assert_non_null(rows_find_pair(&silent));
	assert_int_equal(rows_nr_free, 1);
	slots.blame = NULL;
	runq_blame_close(&rows_table);
}

TEST_MAIN()
