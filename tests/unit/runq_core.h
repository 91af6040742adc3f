/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the BPF programs of `subtick runq` with simulated maps and the kernel's accounting. */
#ifndef SUBTICK_TESTS_UNIT_RUNQ_CORE_H
#define SUBTICK_TESTS_UNIT_RUNQ_CORE_H

#include "test.h"

#include "bpf_shim.h"

#include "bpf/hist.bpf.h"
#include "stats/runq.h"

static u32 shim_random;

static inline u32 bpf_get_prandom_u32(void)
{
	return shim_random;
}

static u64 shim_filled(u32 mark);
static long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags);
static long bpf_map_pop_elem(void *map, void *value);
static long bpf_map_push_elem(void *map, const void *value, u64 flags);
static void *bpf_ringbuf_reserve(void *ring, u64 size, u64 flags);
static void bpf_ringbuf_submit(void *data, u64 flags);

#define NR_CPUS	  2
#define NR_BLAME  64
#define NR_EVENTS 64
#define NR_THROTTLES 4

static struct runq_task tasks_area[RUNQ_NR_TASKS];
static struct runq_pair_cell pairs_area[NR_CPUS * RUNQ_NR_PAIRS];
static struct runq_row rows_area[RUNQ_NR_BLAME];
static _Alignas(64) char first_memory[RUNQ_FIRST_BYTES];

/* BPF programs address the first chunk of slots by a pointer into its middle. */
#define first_area	     (first_memory + RUNQ_FIRST_TABLE + RUNQ_FIRST_CELLS - RUNQ_TO_CELLS)
#define quick_area	     (first_memory + RUNQ_FIRST_TABLE + RUNQ_FIRST_CELLS - RUNQ_QUICK_TO_CELLS)
#define FIXED(name) ((void *)name##_area)
#define OFFSET(base, offset) ((void *)((char *)(base) + (offset)))

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpointer-arith"
/* Removes const, so that the tests can write the read-only data of the BPF programs. */
#define const
#include "bpf/runq_blame.bpf.h"
#include "bpf/runq.bpf.c"
#undef const
#pragma GCC diagnostic pop

/* Fields of three simulated kernels: the newest, the oldest, and one without CONFIG_SCHED_INFO. */
#define NEW_KERNEL " __state sched_info cfs_rq throttled_clock_self_time __parent "
#define OLD_KERNEL " sched_info cfs_rq throttled_clock_task_time "
#define NO_INFO	   " __state __parent "

#define NR_NEAR 100 /* number of counter slots in the first chunk */

static struct {
	_Alignas(64) char far[RUNQ_CHUNK][RUNQ_SLOT_SIZE(NR_CPUS, NR_CPUS)];
	char second; /* its address stands for the map of the second chunk of counter slots */
	u32 free[RUNQ_NR_SLOTS];
	u32 nr_free, free_at;
	struct {
		u64 key;
		u32 slot;
	} index[2 * RUNQ_CHUNK];
	u32 nr_index;
	u64 stamp[RUNQ_NR_TASKS], exit[RUNQ_NR_EXITS];
	struct {
		struct runq_pair pair;
		u32 row;
	} pair[NR_BLAME];
	struct {
		struct runq_throttle_key key;
		struct runq_throttle value;
	} throttle[NR_THROTTLES];
	u32 nr_throttles;
	u32 nr_rows, max_rows; /* current and maximum number of pairs in the map row_of */
	u32 free_row[NR_BLAME], nr_free_rows;  /* stack of freed blame rows */
	u32 new_row[NR_CPUS], new_at, new_end; /* queue of new blame rows */
	bool competitor; /* true if another core creates the blame row of a new pair first */
	struct runq_event event[NR_EVENTS];
	u32 nr_events, max_events, nr_new;
	struct rq rq[NR_CPUS];
	u64 rq_behind
		[NR_CPUS]; /* lag of a run queue's clock behind CLOCK_MONOTONIC after an update */
	bool old;	   /* if true, the kernel is old, and BPF programs use its field names */
	/* if true, the next runnable task that leaves the core calls sched_yield() */
	bool yields;
	/* interrupt and steal time since the start of the test, which the task clock omits */
	u64 subtracted;
} fake;

/* if true, the tests use the BPF program on sched_switch that counts for both runq and load */
static bool want_load;

/* Returns the constants that lib/measure/runq/programs.c writes into the BPF instructions. */
static u64 shim_filled(u32 mark)
{
	switch (mark) {
	case RUNQ_FILLED_OLD:
		return fake.old;
	case RUNQ_FILLED_V2:
		return cgroup_v2;
	case RUNQ_FILLED_RQ_CLOCK:
		return fake.subtracted > 0;
	case RUNQ_FILLED_SHARED:
		return layout.kind & RUNQ_SHARED;
	case RUNQ_FILLED_STEPS:
		return layout.kind & RUNQ_STEPS;
	case RUNQ_FILLED_BLAME:
		return want_blame;
	case RUNQ_FILLED_SOME:
		return want_filter ? RUNQ_SOME_FILTER : want_sample ? RUNQ_SOME_SAMPLE : 0;
	case RUNQ_FILLED_GATE:
		return !want_sample + fake.old * RUNQ_GATE_SAMPLE_OLD + want_load * RUNQ_GATE_LOAD;
	case CORE_FILLED_CPU_MASK:
		return NR_CPUS - 1;
	case CORE_FILLED_LOAD:
		return want_load;
	case LOAD_FILLED_NOISE:
	case LOAD_FILLED_TASKS:
	case LOAD_FILLED_PMU:
		return 0;
	default:
		assert_int_equal(mark, RUNQ_FILLED_LEARN);
		return want_sample ? 0x1f000 : RUNQ_LEARN;
	}
}

static inline u32 *row_number(u64 victim, u64 culprit)
{
	for (u32 i = 0; i < fake.nr_rows; i++)
		if (fake.pair[i].pair.victim == victim && fake.pair[i].pair.culprit == culprit)
			return &fake.pair[i].row;
	return NULL;
}

static inline struct runq_row *row_find(u64 victim, u64 culprit)
{
	u32 *row = row_number(victim, culprit);

	return row ? &rows_area[*row] : NULL;
}

static inline void row_add(const struct runq_pair *pair, u32 row)
{
	fake.pair[fake.nr_rows].pair = *pair;
	fake.pair[fake.nr_rows++].row = row;
}

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	u32 at = *(const u32 *)key;

	if (map == &chunks)
		return at == 1 ? &fake.second : NULL;
	if (map == &fake.second)
		return at < RUNQ_CHUNK ? fake.far[at] : NULL;
	if (map == &stamps)
		return at < RUNQ_NR_TASKS ? &fake.stamp[at] : NULL;
	if (map == &exits)
		return at < RUNQ_NR_EXITS ? &fake.exit[at] : NULL;
	for (u32 i = 0; map == &throttles && i < fake.nr_throttles; i++)
		if (!memcmp(&fake.throttle[i].key, key, sizeof(fake.throttle[i].key)))
			return &fake.throttle[i].value;
	if (map == &row_of)
		return row_number(((const struct runq_pair *)key)->victim,
				  ((const struct runq_pair *)key)->culprit);
	for (u32 i = 0; map == &slot_of && i < fake.nr_index; i++)
		if (fake.index[i].key == *(const u64 *)key)
			return &fake.index[i].slot;
	return NULL;
}

static long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags)
{
	assert_int_equal(flags, BPF_NOEXIST);
	if (bpf_map_lookup_elem(map, key))
		return -EEXIST;
	if (map == &row_of) {
		if (fake.nr_rows == fake.max_rows)
			return -E2BIG;
		/*
		 * The BPF program writes the pair of keys before the map row_of makes the row
		 * visible to readers.
		 */
		assert_memory_equal(&rows_area[*(const u32 *)value].pair, key, sizeof(struct runq_pair));
		row_add(key, fake.competitor ? NR_BLAME - 1 : *(const u32 *)value);
		return fake.competitor ? -EEXIST : 0;
	}
	if (map == &throttles) {
		if (fake.nr_throttles == NR_THROTTLES)
			return -E2BIG;
		fake.throttle[fake.nr_throttles].key = *(const struct runq_throttle_key *)key;
		fake.throttle[fake.nr_throttles++].value = *(const struct runq_throttle *)value;
		return 0;
	}
	assert_ptr_equal(map, &slot_of);
	fake.index[fake.nr_index].key = *(const u64 *)key;
	fake.index[fake.nr_index++].slot = *(const u32 *)value;
	return 0;
}

static long bpf_map_pop_elem(void *map, void *value)
{
	if (map == &free_rows) {
		if (!fake.nr_free_rows)
			return -ENOENT;
		*(u32 *)value = fake.free_row[--fake.nr_free_rows];
		return 0;
	}
	if (map == &new_rows) {
		if (fake.new_at == fake.new_end)
			return -ENOENT;
		*(u32 *)value = fake.new_row[fake.new_at++ % NR_CPUS];
		return 0;
	}
	assert_ptr_equal(map, &free_slots);
	if (fake.free_at == fake.nr_free)
		return -ENOENT;
	*(u32 *)value = fake.free[fake.free_at++];
	return 0;
}

static long bpf_map_push_elem(void *map, const void *value, u64 flags)
{
	if (map == &free_rows) {
		fake.free_row[fake.nr_free_rows++] = *(const u32 *)value;
		return 0;
	}
	if (map == &new_rows) {
		assert_true(fake.new_end - fake.new_at < NR_CPUS);
		fake.new_row[fake.new_end++ % NR_CPUS] = *(const u32 *)value;
		return 0;
	}
	assert_ptr_equal(map, &free_slots);
	fake.free[fake.nr_free++] = *(const u32 *)value;
	return 0;
}

static void *bpf_ringbuf_reserve(void *ring, u64 size, u64 flags)
{
	assert_int_equal(size, sizeof(struct runq_event));
	if (fake.nr_events == fake.max_events)
		return NULL;
	return &fake.event[fake.nr_events];
}

static void bpf_ringbuf_submit(void *data, u64 flags)
{
	const struct runq_event *event = data;

	assert_ptr_equal(event, &fake.event[fake.nr_events]);
	if (event->kind == RUNQ_EVENT_NEW)
		fake.nr_new++;
	else
		fake.nr_events++;
}

static inline void fake_table(void)
{
	runq_quick_table((uint8_t *)le_in, layout.kind & RUNQ_STEPS, (uint8_t *)first_memory);
}

static inline void fake_boundaries(const uint64_t *le, unsigned int nr)
{
	unsigned int bad;

	for (u32 i = 0; i < nr; i++)
		le_ns[i] = le[i];
	assert_int_equal(runq_le_assign(le, nr, (uint8_t *)le_in, &bad), 0);
	runq_le_before((uint8_t *)le_in, (uint8_t *)le_before);
	fake_table();
}

static inline void *fake_slot(u32 slot)
{
	if (slot >= NR_NEAR)
		return fake.far[slot - NR_NEAR];
	return first_memory + RUNQ_FIRST_TABLE + RUNQ_FIRST_CELLS - layout.cells_at +
	       slot * layout.slot_size;
}

static inline struct runq_cell *fake_cell(void *slot, u32 cpu)
{
	return (struct runq_cell *)((char *)slot + layout.cells_at) + cpu;
}

static inline struct runq_shape fake_shape(void)
{
	return (struct runq_shape){.stripes = NR_CPUS,
				   .cpus = NR_CPUS,
				   .steps = layout.kind & RUNQ_STEPS,
				   .nr_le = RUNQ_NR_LE};
}

struct fake_totals {
	uint64_t count, sum_ns, max_ns;
	uint64_t cause_ns[RUNQ_NR_CAUSES];
	uint64_t bucket[RUNQ_NR_COUNTS];
};

static inline struct fake_totals fake_read(void *slot)
{
	struct runq_shape shape = fake_shape();
	struct hist_entry entries[RUNQ_NR_COUNTS];
	struct hist hist = {.entries = entries};
	struct fake_totals totals = {.count = runq_slot_count(slot, &shape),
				     .sum_ns = runq_slot_wait_ns(slot, &shape)};

	runq_slot_read(slot, &shape, totals.cause_ns, &hist);
	for (u32 i = 0; i < hist.nr; i++)
		totals.bucket[entries[i].bucket] = entries[i].count;
	for (u32 cpu = 0; cpu < NR_CPUS; cpu++)
		if (fake_cell(slot, cpu)->max_ns > totals.max_ns)
			totals.max_ns = fake_cell(slot, cpu)->max_ns;
	return totals;
}

/* For each boundary in @le, counts the waits in @slot that are at most as long as the boundary. */
static inline void fake_le_counts(void *slot, const uint64_t *le, u32 nr, uint64_t *ret_counts)
{
	struct runq_shape shape = fake_shape();
	struct hist_scale scale = runq_scale(shape.steps, le, nr);
	struct hist_entry entries[RUNQ_NR_COUNTS];
	struct hist hist = {.entries = entries};
	uint64_t cause_ns[RUNQ_NR_CAUSES];

	shape.nr_le = nr;
	runq_slot_read(slot, &shape, cause_ns, &hist);
	runq_le_counts(&scale, &hist, le, nr, ret_counts);
}

/* Returns the total wait time, computed like wait_sum() in lib/measure/runq/kernel.c. */
static inline u64 fake_waited(void)
{
	struct runq_shape shape = fake_shape();
	u64 sum = 0;

	for (u32 i = 0; i < NR_NEAR; i++)
		sum += runq_slot_wait_ns(fake_slot(i), &shape);
	for (u32 cpu = 0; cpu < NR_CPUS; cpu++)
		sum += cores[cpu].runq.wait_ns;
	return sum;
}

static inline void fake_layout(bool steps)
{
	size_t stripe = steps ? sizeof(struct runq_steps) : sizeof(struct runq_hist);

	layout.kind = steps ? RUNQ_STEPS : 0;
	layout.cells_at = RUNQ_CELLS_AT(stripe, NR_CPUS);
	layout.slot_size = RUNQ_SLOT_BYTES(stripe, NR_CPUS, NR_CPUS);
	fake_table();
}

/* Resets the simulated machine: BPF programs attached, default settings, blame enabled. */
static inline void fake_reset(void)
{
	memset(&fake, 0, sizeof(fake));
	memset(first_memory, 0, sizeof(first_memory));
	for (int i = 0; i < NR_CPUS; i++)
		cores[i] = (struct core_block){0};
	want_load = false;
	memset(pairs_area, 0, sizeof(pairs_area));
	memset(rows_area, 0, sizeof(rows_area));
	for (u32 i = 0; i < RUNQ_NR_TASKS; i++)
		tasks_area[i] = (struct runq_task){RUNQ_NO_DELAY, RUNQ_NO_GROUP};
	for (u32 i = 1; i < NR_NEAR; i++)
		fake.free[fake.nr_free++] = i;
	fake.max_rows = NR_BLAME;
	for (u32 row = 1; row <= NR_CPUS; row++)
		fake.new_row[fake.new_end++] = row;
	fake.max_events = NR_EVENTS;
	fake.rq_behind[0] = 1000000;
	fake.rq_behind[1] = 77777;
	shim_now = 100000000;
	shim_cpu = 0;
	shim_fields = NEW_KERNEL;
	for (int cpu = 0; cpu < NR_CPUS; cpu++)
		cores[cpu].runq.clock = (struct runq_clock){
			.off = RUNQ_CLOCK_UNSET, .at = shim_now, .low_late = RUNQ_CLOCK_UNSET};
	layout.cpus = NR_CPUS;
	layout.stripes = NR_CPUS;
	fake_layout(false);
	layout.first_slots = NR_NEAR;
	fake_boundaries(NULL, 0);
	per = RUNQ_PER_CGROUP;
	want_sample = false;
	sample = (struct runq_sample){.factor = 0x123456789abcdef1ULL, .below = ~0ULL};
	threshold_ns = 0;
	by_wakeup = false;
	cgroup_v2 = true;
	want_causes = true;
	want_blame = true;
	want_filter = false;
	switch_state_first = false;
	delay_live_ns = delay_exited_ns = 0;
	slot_changes = 0;
}

static inline void fake_clock(u32 cpu)
{
	fake.rq[cpu].clock = shim_now - fake.rq_behind[cpu];
}

/*
 * Simulates sched_info_enqueue() of kernel/sched/stats.h, which the kernel calls just after it has
 * updated the run queue's clock.
 */
static inline void fake_enqueue(struct task_struct *task, struct cfs_rq *cfs_rq)
{
	task->se.cfs_rq = cfs_rq;
	if (!task->sched_info.last_queued)
		task->sched_info.last_queued = cfs_rq->rq->clock;
}

static inline void fake_dequeue(struct task_struct *task)
{
	if (task->sched_info.last_queued)
		task->sched_info.run_delay +=
			task->se.cfs_rq->rq->clock - task->sched_info.last_queued;
	task->sched_info.last_queued = 0;
}

/* Simulates sched_info_arrive() of kernel/sched/stats.h. */
static inline void fake_arrive(struct task_struct *task)
{
	fake_dequeue(task);
	task->sched_info.last_arrival = task->se.cfs_rq->rq->clock;
}

/*
 * Checks that the switch program shared by `runq` and `load` changes load's counters as load's own
 * switch program does.
 */
static inline void fake_program(u32 cpu, int (*program)(u64 *), u64 *args)
{
	struct load_slot *slot = &cores[cpu].load, before = *slot, after;

	if (want_load)
		switch_load(args);
	after = *slot;
	*slot = before;
	program(args);
	assert_memory_equal(slot, &after, sizeof(after));
}

/* Simulates a context switch. The BPF program runs before the kernel's accounting. */
static inline void fake_switch(u32 cpu, int (*program)(u64 *), struct task_struct *prev,
			       struct task_struct *next, bool sleeps)
{
	bool preempted = !sleeps && !fake.yields;
	u64 args[4] = {preempted, (unsigned long)prev, (unsigned long)next, 0};
	u64 args_518[4] = {preempted, 0, (unsigned long)prev, (unsigned long)next};

	if (shim_has(">__state"))
		prev->__state = prev->pid && sleeps;
	else
		prev->state = prev->pid && sleeps;
	fake.yields = !fake.yields;
	shim_cpu = cpu;
	shim_current = prev;
	/* In the kernel, update_curr() runs before the tracepoint sched_switch. */
	if (prev->pid && prev->se.exec_start) {
		prev->se.sum_exec_runtime +=
			fake.rq[cpu].clock - fake.subtracted - prev->se.exec_start;
		prev->se.exec_start = fake.rq[cpu].clock - fake.subtracted;
	}
	next->cpu = next->thread_info.cpu = cpu;
	if (next->pid)
		next->se.exec_start = next->se.cfs_rq->rq->clock - fake.subtracted;
	fake_program(cpu, program, switch_state_first ? args_518 : args);
	if (next->pid)
		fake_arrive(next);
	if (prev->pid && !sleeps)
		fake_enqueue(prev, prev->se.cfs_rq);
}

/* Excludes the group with key @key, as user space does after reading the group's name. */
static inline void fake_unwanted(u64 key)
{
	for (u32 i = 0; i < fake.nr_index; i++) {
		u32 place = slot_ref_of(fake.index[i].slot);

		if (fake.index[i].key != key)
			continue;
		((struct runq_head *)fake_slot(fake.index[i].slot))->depth |= RUNQ_UNWANTED;
		for (u32 pid = 0; pid < RUNQ_NR_TASKS; pid++)
			if (tasks_area[pid].group >> 32 == place)
				tasks_area[pid].group =
					RUNQ_GROUP(RUNQ_SLOT_UNWANTED,
						   (u32)tasks_area[pid].group ^ RUNQ_SLOW_KEY);
	}
}

/* Adds the per-core blame tables to the rows, as user space does. */
static inline void fake_fold(void)
{
	for (u32 i = 0; i < NR_CPUS * RUNQ_NR_PAIRS; i++) {
		struct runq_pair_cell *cell = &pairs_area[i];
		u64 victim = key_of(RUNQ_PAIR_VICTIM(cell->pair));
		u64 culprit = key_of(RUNQ_PAIR_WHO(cell->pair));
		struct runq_row *row = row_find(victim, culprit);
		u32 at = 0;

		if (!cell->pair)
			continue;
		if (!row) {
			assert_true(row_take(&at));
			row = &rows_area[at];
			row->pair = (struct runq_pair){victim, culprit};
			row_add(&row->pair, at);
		}
		row->charge.wait_ns += cell->wait_ns;
		row->charge.count += cell->count;
		*cell = (struct runq_pair_cell){0};
	}
}

static inline struct runq_row *fake_row(u64 victim, u64 culprit)
{
	fake_fold();
	return row_find(victim, culprit);
}

static inline struct runq_head *fake_head(u64 key)
{
	for (u32 i = 0; i < fake.nr_index; i++)
		if (fake.index[i].key == key)
			return fake_slot(fake.index[i].slot);
	return NULL;
}

#endif
