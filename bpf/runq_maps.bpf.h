/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Settings, modes and maps of runq.bpf.c. */
#ifndef SUBTICK_BPF_RUNQ_MAPS_H
#define SUBTICK_BPF_RUNQ_MAPS_H

#include "load_slot.bpf.h"

/* Set by user space before loading. */
const volatile struct runq_layout layout = {.cpus = 1, .stripes = 1};
const volatile __u32 per;	   /* enum runq_per */
const volatile bool want_sample;   /* else every wait */
const volatile __u64 threshold_ns; /* 0 disables events; otherwise needs want_causes, for the culprit */
const volatile bool by_wakeup;	   /* our own timestamps instead of sched_info's */
const volatile bool cgroup_v2;
const volatile bool want_causes; /* else every wait is booked whole, and segments are not kept */
const volatile bool want_blame;  /* needs want_causes */
const volatile bool want_filter; /* groups may be unwanted; not with a sample */
const volatile __u64 le_ns[RUNQ_NR_LE];
/* 1 + which boundary lies inside that bucket; 0 for none. */
const volatile __u8 le_in[HIST_NR];
/* How many boundaries lie in buckets below that one. */
const volatile __u8 le_before[HIST_NR];

/* Options of a switch program: constants in the common variants, MODE_ANY in the general one. */
struct mode {
	u32 per;
	bool by_wakeup, cgroup_v2, causes, blame, sample, threshold, state_first;
	bool modern; /* see quick_runnable() */
	bool some;   /* filter or sample; both are operands in the quick path */
};

#define MODE_ANY                                                                                 \
	(struct mode)                                                                            \
	{                                                                                        \
		.per = per, .by_wakeup = by_wakeup, .cgroup_v2 = cgroup_v2,                      \
		.causes = want_causes, .blame = want_blame, .sample = want_sample,               \
		.threshold = threshold_ns != 0, .state_first = switch_state_first                \
	}

/* The kernel's run_delay: of tasks as of the last iteration, and of those that exited. */
__u64 delay_live_ns SEC(".data");
__u64 delay_exited_ns SEC(".data");

struct runq_sample sample SEC(".data");
__u64 slot_changes SEC(".data"); /* how often a slot got a group, or its group ended */

/*
 * Memory at a fixed address, which needs no look-up: the tasks by pid, blame, and the first chunk
 * of slots, enough for most machines. Placeholders: user space sets the size of the maps behind
 * these symbols. The unit test has memory of its own.
 */
#ifdef __bpf__
static char tasks_area[8] SEC(".data.tasks");
static char pairs_area[8] SEC(".data.pairs");
static char rows_area[8] SEC(".data.rows");
/* Slot 0 for the quick and the slow path, each at its distance from the table before it. */
static char near_before[RUNQ_NEAR_TABLE + RUNQ_NEAR_CELLS - RUNQ_QUICK_TO_CELLS] SEC(".data.near")
	__attribute__((used));
static char quick_area[RUNQ_QUICK_TO_CELLS - RUNQ_TO_CELLS] SEC(".data.near")
	__attribute__((used));
static char near_area[8] SEC(".data.near");

/* The compiler must not know how large it is declared. */
#define FIXED(name)                               \
	({                                       \
		void *__area = name##_area;      \
		asm volatile("" : "+r"(__area)); \
		__area;                          \
	})

/* @offset from @base, in the register of @offset: the compiler would copy @base first. */
#define OFFSET(base, offset)                                               \
	({                                                               \
		u64 __at = (offset);                                     \
		asm volatile("%0 += %1" : "+r"(__at) : "r"(base));       \
		(void *)__at;                                            \
	})
#endif

/* Further chunks of slots; user space adds them ahead of need. */
MAP(chunks, ARRAY_OF_MAPS, 0, RUNQ_NR_CHUNKS, u32, u32);

QUEUE(free_slots, QUEUE, RUNQ_NR_SLOTS, u32);

MAP(slot_of, HASH, 0, RUNQ_NR_SLOTS, u64, u32);

/* by_wakeup, by pid as struct runq_task is: when the task became runnable; user space sets the size. */
MAP(stamps, ARRAY, 0, 1, u32, u64);

#define TAG_SHIFT   57
#define WORD_MASK   ((1ULL << TAG_SHIFT) - 1)
#define TAG_OF(pid) ((u64)((u32)(pid) / RUNQ_NR_TASKS + 1) << TAG_SHIFT)
/* The tag added to a delay: the pid, so that two pids of one entry differ in the bits above. */
#define DELAY_TAG(pid) ((u64)(u32)(pid) << (TAG_SHIFT - 16))
_Static_assert(RUNQ_NR_TASKS == 1 << 16, "pids of one entry differ by a multiple of that");

/* Tag and run_delay of tasks at their exit, until they are freed. */
MAP(exits, ARRAY, 0, RUNQ_NR_EXITS, u32, u64);

/* Nine bits, never 0: a pid has 22 bits at most. The remaining bits hold a year of waiting. */
#define EXIT_SHIFT    55
#define EXIT_MASK     ((1ULL << EXIT_SHIFT) - 1)
#define EXIT_TAG(pid) ((u64)((u32)(pid) / RUNQ_NR_EXITS + 1) << EXIT_SHIFT)
_Static_assert((1 << 22) / RUNQ_NR_EXITS + 1 < 1 << (64 - EXIT_SHIFT), "each pid has its own tag");

MAP(row_of, HASH, 0, 1, struct runq_pair, u32);

QUEUE(free_rows, STACK, 1, u32);

/* Rows never taken, in one lane per CPU: the next row of each. A core holds at most one lane. */
QUEUE(new_rows, QUEUE, 1, u32);

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} events SEC(".maps");

#endif
