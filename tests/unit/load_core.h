/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the BPF programs of `subtick load` on a simulated core, and reads its counters. */
#ifndef SUBTICK_TESTS_UNIT_LOAD_CORE_H
#define SUBTICK_TESTS_UNIT_LOAD_CORE_H

#include "test.h"

#include "bpf_shim.h"

static long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags);
static u64 shim_filled(u32 mark);

/* Removes const, so that the tests can write the read-only data of the BPF programs. */
#define const
#include "bpf/load.bpf.c"
#undef const

#include "measure/load/slot.h"

static bool want_bursts, want_pmu, want_tasks, want_noise, want_wake, want_cores;

/* Returns the constants that user space writes into the BPF instructions before loading. */
static u64 shim_filled(u32 mark)
{
	switch (mark) {
	case LOAD_FILLED_WAKE:
		return want_wake;
	case LOAD_FILLED_TASKS:
		return want_tasks;
	case LOAD_FILLED_NOISE:
		return want_noise;
	case LOAD_FILLED_BURSTS:
		return want_bursts;
	case LOAD_FILLED_PMU:
		return want_pmu;
	case LOAD_FILLED_CORES:
		return want_cores;
	case LOAD_FILLED_NOTES:
		return want_bursts || want_pmu || want_cores;
	case LOAD_FILLED_STATES:
		return 1;
	case LOAD_FILLED_ONE_STATE:
		return false;
	default:
		assert_int_equal(mark, CORE_FILLED_CPU_MASK);
		return 1;
	}
}

/* Counters in which the BPF programs store the times of the simulated core. */
static struct load_slot *const slot = &cores[0].load;
static struct load_cpu_note note;
static struct bursts burst_counts;

/* Number of keys that fit into a simulated BPF map, small enough that tests can fill the map. */
#define ROOM 3

struct pair {
	union {
		struct load_line_key line;
		struct load_task_key task;
	} key;
	union {
		struct load_line_sum line;
		struct load_task_sum task;
	} sum;
};

struct small_map {
	struct pair pairs[ROOM];
	size_t nr;
};

static struct small_map small_lines, small_even, small_odd;
static struct load_task_now task_now;
static struct noise_cpu noise_counts;
static struct noise_sends send_counts[2]; /* indexed by the core that sends the IPI */
static u64 queued_words[NOISE_NR_QUEUED];

static struct small_map *small_of(const void *map, size_t *ret_key)
{
	*ret_key = map == &lines ? sizeof(struct load_line_key) : sizeof(struct load_task_key);
	return map == &lines ? &small_lines : map == &tasks_even ? &small_even :
	       map == &tasks_odd			       ? &small_odd :
								 NULL;
}

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	size_t size;
	struct small_map *small = small_of(map, &size);

	for (size_t i = 0; small && i < small->nr; i++)
		if (!memcmp(&small->pairs[i].key, key, size))
			return &small->pairs[i].sum;
	if (small)
		return NULL;
	if (map == &notes)
		return *(const u32 *)key ? NULL : &note;
	if (map == &tasks_now)
		return &task_now;
	if (map == &noise)
		return &noise_counts;
	if (map == &queued)
		return &queued_words[*(const u32 *)key];
	if (map == &sends)
		return &send_counts[*(const u32 *)key];
	assert_int_equal(*(const u32 *)key, 0);
	assert_ptr_equal(map, &bursts);
	return &burst_counts;
}

static long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags)
{
	size_t size;
	struct small_map *small = small_of(map, &size);
	struct pair *pair;

	assert_non_null(small);
	assert_int_equal(flags, BPF_NOEXIST);
	if (small->nr == ROOM)
		return -7;
	pair = &small->pairs[small->nr++];
	memcpy(&pair->key, key, size);
	memcpy(&pair->sum, value,
	       map == &lines ? sizeof(struct load_line_sum) : sizeof(struct load_task_sum));
	return 0;
}

static struct task_struct idle = {.flags = PF_KTHREAD, .comm = "swapper/0"};
static struct task_struct task = {.pid = 10, .comm = "work"};
static struct task_struct other = {.pid = 20, .comm = "other"};
static struct task_struct ksoftirqd = {.pid = 30, .flags = PF_KTHREAD, .comm = "ksoftirqd/0"};

#define START 1000000

static inline int reset(void **state)
{
	/* Idle state 0 polls, as on a kernel without a cpuidle driver. */
	*slot = (struct load_slot){.poll_states = 1, .start_ns = START};
	memset(&note, 0, sizeof(note));
	memset(&burst_counts, 0, sizeof(burst_counts));
	shim_current = &idle;
	shim_at_barrier = NULL;
	shim_counter = NULL;
	shim_fields = "";
	want_bursts = want_pmu = want_tasks = want_noise = want_wake = want_cores = false;
	memset(&small_lines, 0, sizeof(small_lines));
	memset(&small_even, 0, sizeof(small_even));
	memset(&small_odd, 0, sizeof(small_odd));
	memset(&cores[0].line, 0, sizeof(cores[0].line));
	memset(&task_now, 0, sizeof(task_now));
	memset(&noise_counts, 0, sizeof(noise_counts));
	memset(&send_counts, 0, sizeof(send_counts));
	memset(&queued_words, 0, sizeof(queued_words));
	lines_lost = lines_lost_ns = task_window_seq = noise_window_seq = 0;
	first_idle = LOAD_HALT;
	hotplug_steps = 0;
	return 0;
}

static inline void at(u64 ns)
{
	shim_now = START + ns;
}

static inline void device(u64 from, u64 to, int number, struct irqaction *action)
{
	at(from);
	load_irq_enter_line(NULL, number, action);
	at(to);
	load_irq_leave_line(NULL);
}

static inline void go_idle(u64 ns, u32 idle_state)
{
	at(ns);
	load_idle(NULL, idle_state, 0);
}

static inline void leave_idle(u64 ns)
{
	at(ns);
	load_idle(NULL, PWR_EVENT_EXIT, 0);
}

static struct irqaction one_handler;

static inline void irq(u64 from, u64 to)
{
	at(from);
	load_irq_enter(NULL, 0, &one_handler);
	at(to);
	load_irq_leave(NULL);
}

static inline void softirq(u64 from, u64 to, u32 vec)
{
	at(from);
	load_softirq_entry(NULL, vec);
	at(to);
	if (want_noise)
		load_softirq_exit_noise(NULL, vec);
	else
		load_softirq_exit(NULL, vec);
}

static inline void to_task(u64 ns, struct task_struct *next)
{
	u64 args[3] = {0, (unsigned long)shim_current, (unsigned long)next};

	at(ns);
	load_switch(args);
	shim_current = next;
}

/* Returns the sample that another core reads at @ns. The parts of the sample must add up to @ns. */
static inline struct load_sample see_any(u64 ns)
{
	struct load_sample s;
	u64 sum = 0;

	assert_true(load_slot_read(slot, ns, LOAD_HALT, &s));
	for (int i = 0; i < LOAD_NR_PARTS; i++)
		sum += s.part_ns[i];
	assert_int_equal(sum, ns);
	/* The BPF programs must read the hardware counter only if the test requests it. */
	assert_true(want_pmu || !slot->pmu_errors);
	return s;
}

/*
 * Returns a sample after events without losses. Each part is checked for a negative value, because
 * errors could cancel out in the sum.
 */
static inline struct load_sample see(u64 ns)
{
	struct load_sample s = see_any(ns);

	for (int i = 0; i < LOAD_NR_PARTS; i++)
		assert_true(s.part_ns[i] <= ns);
	return s;
}

/* Expected time of each load part in ns. Load parts that are not listed must be 0 ns. */
#define P(part) [LOAD_PART_##part]
#define EXPECT_PARTS(sample, ...) expect_parts(&(sample), (u64[LOAD_NR_PARTS]){__VA_ARGS__}, __func__)
static inline void expect_parts(const struct load_sample *s, const u64 *want, const char *where)
{
	for (int i = 0; i < LOAD_NR_PARTS; i++)
		if (s->part_ns[i] != want[i])
			fail_msg("%s: %s is %llu ns, not %llu", where, load_part_name(i),
				 (unsigned long long)s->part_ns[i], (unsigned long long)want[i]);
}

#endif
