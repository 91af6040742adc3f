/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Settings, program variants (struct mode) and maps of runq.bpf.c. */
#ifndef SUBTICK_BPF_RUNQ_MAPS_H
#define SUBTICK_BPF_RUNQ_MAPS_H

#include "load_slot.bpf.h"

/* User space sets these constants before the programs are loaded. */
const volatile struct runq_layout layout = {.cpus = 1, .stripes = 1};
const volatile __u32 per;	 /* enum runq_per: how tasks are grouped */
const volatile bool want_sample; /* true if runq counts only a sample of the waits */
/* minimum length of waits that are reported by events; 0 disables events; requires want_causes */
const volatile __u64 threshold_ns;
/* waits start at wake-up events (--source wakeup), not at the times in sched_info */
const volatile bool by_wakeup;
const volatile bool cgroup_v2;
const volatile bool want_causes; /* split waits by cause */
const volatile bool want_blame;	 /* count waits by victim and culprit; requires want_causes */
/* true if a filter excludes groups; want_filter and want_sample are never both true */
const volatile bool want_filter;
const volatile __u64 le_ns[RUNQ_NR_LE];
/*
 * Index of the --le boundary inside each histogram bucket, plus 1; 0 if the bucket contains no
 * boundary.
 */
const volatile __u8 le_in[HIST_NR];
/* Number of --le boundaries below each histogram bucket. */
const volatile __u8 le_before[HIST_NR];

/*
 * Options of a program on sched_switch. Each specialised program has constant options, and the
 * general program has MODE_ANY.
 */
struct mode {
	u32 per;
	bool by_wakeup, cgroup_v2, causes, blame, sample, threshold, state_first;
	bool modern; /* the kernel has all struct fields that the fast path reads */
	/* true in the program runq_some, which counts filtered or sampled waits without causes */
	bool some;
};

#define MODE_ANY                                                                                 \
	(struct mode)                                                                            \
	{                                                                                        \
		.per = per, .by_wakeup = by_wakeup, .cgroup_v2 = cgroup_v2,                      \
		.causes = want_causes, .blame = want_blame, .sample = want_sample,               \
		.threshold = threshold_ns != 0, .state_first = switch_state_first                \
	}

/*
 * Sums of run_delay. delay_live_ns is the sum over all tasks that the last iteration visited.
 * delay_exited_ns is the sum over all tasks that exited.
 */
__u64 delay_live_ns SEC(".data");
__u64 delay_exited_ns SEC(".data");

struct runq_sample sample SEC(".data");
/* number of times that a group got a slot or ended */
__u64 slot_changes SEC(".data");

/*
 * Memory that programs access without map look-ups: the table of tasks by pid, the blame tables,
 * and the first chunk of slots. The declared array sizes are placeholders; user space sets the real
 * sizes. The unit test defines the arrays NAME_area itself.
 */
#ifdef __bpf__
static char tasks_area[8] SEC(".data.tasks");
static char pairs_area[8] SEC(".data.pairs");
static char rows_area[8] SEC(".data.rows");
/*
 * Layout of the first chunk: the table of short waits, then the slots. quick_area is the reference
 * to slot 0 for the fast path, first_area for the slow path.
 */
static char
	first_before[RUNQ_FIRST_TABLE + RUNQ_FIRST_CELLS - RUNQ_QUICK_TO_CELLS] SEC(".data.first")
		__attribute__((used));
static char quick_area[RUNQ_QUICK_TO_CELLS - RUNQ_TO_CELLS] SEC(".data.first")
	__attribute__((used));
static char first_area[8] SEC(".data.first");

/*
 * Address of the array NAME_area. The asm barrier hides the declared size of the array from clang.
 */
#define FIXED(name)                               \
	({                                       \
		void *__area = name##_area;      \
		asm volatile("" : "+r"(__area)); \
		__area;                          \
	})

/*
 * Address @base + @offset, computed in the register of @offset. Without the asm statement, clang
 * would copy @base to another register before the addition.
 */
#define OFFSET(base, offset)                                               \
	({                                                               \
		u64 __at = (offset);                                     \
		asm volatile("%0 += %1" : "+r"(__at) : "r"(base));       \
		(void *)__at;                                            \
	})
#endif

/* Further chunks of slots; user space adds a chunk before all slots are used. */
MAP(chunks, ARRAY_OF_MAPS, 0, RUNQ_NR_CHUNKS, u32, u32);

QUEUE(free_slots, QUEUE, RUNQ_NR_SLOTS, u32);

MAP(slot_of, HASH, 0, RUNQ_NR_SLOTS, u64, u32);

/*
 * Source wakeup: start of the wait of each task; the index is pid modulo array size. User space
 * sets the array size.
 */
MAP(stamps, ARRAY, 0, 1, u32, u64);

#define TAG_SHIFT   57
#define WORD_MASK   ((1ULL << TAG_SHIFT) - 1)
#define TAG_OF(pid) ((u64)((u32)(pid) / RUNQ_NR_TASKS + 1) << TAG_SHIFT)
/*
 * Tag of a stored run_delay, computed from the pid. Pids with the same table index have different
 * tags.
 */
#define DELAY_TAG(pid) ((u64)(u32)(pid) << (TAG_SHIFT - 16))
_Static_assert(RUNQ_NR_TASKS == 1 << 16, "pids of one entry differ by a multiple of that");

/* Tag and run_delay of each exited task, until the task is freed. */
MAP(exits, ARRAY, 0, RUNQ_NR_EXITS, u32, u64);

/*
 * An element of `exits` has a tag of nine bits, which is never 0, and 55 bits of run_delay. 55 bits
 * are sufficient for one year of run_delay.
 */
#define EXIT_SHIFT    55
#define EXIT_MASK     ((1ULL << EXIT_SHIFT) - 1)
#define EXIT_TAG(pid) ((u64)((u32)(pid) / RUNQ_NR_EXITS + 1) << EXIT_SHIFT)
_Static_assert((1 << 22) / RUNQ_NR_EXITS + 1 < 1 << (64 - EXIT_SHIFT), "each pid has its own tag");

/* Last throttlings by cgroup and core (struct runq_throttle). User space sets the map size. */
MAP(throttles, HASH, 0, 1, struct runq_throttle_key, struct runq_throttle);

MAP(row_of, HASH, 0, 1, struct runq_pair, u32);

QUEUE(free_rows, STACK, 1, u32);

/*
 * Unused rows of the blame table, as one sequence of rows per possible CPU. Each element of the
 * queue is the number of the next unused row of a sequence.
 */
QUEUE(new_rows, QUEUE, 1, u32);

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} events SEC(".maps");

#endif
