/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Per-group and per-CPU data of bpf/runq.bpf.c, read by lib/measure/runq/kernel.c. */
#ifndef SUBTICK_ABI_RUNQ_H
#define SUBTICK_ABI_RUNQ_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "abi/hist.h"

#define RUNQ_NR_LE	 32
/* number of time segments that are kept per core (struct runq_seg); a power of two */
#define RUNQ_NR_SEGS	 128
/*
 * maximum number of time segments that one call of wait_walk() visits; limited, because the
 * verifier checks each iteration
 */
#define RUNQ_NR_STEP	 30
/*
 * maximum number of time segments of a wait; less than RUNQ_NR_SEGS, because the ring segs[] also
 * contains the segment before the wait
 */
#define RUNQ_NR_WALK	 120
#define RUNQ_CHUNK	 128 /* number of slots per chunk; a power of two */
#define RUNQ_NR_CHUNKS	 256
#define RUNQ_NR_SLOTS	 (RUNQ_CHUNK * RUNQ_NR_CHUNKS)
/* Size of the table of tasks, a power of two. The index of a task is its pid modulo this size. */
#define RUNQ_NR_TASKS	 65536
#define RUNQ_NR_EXITS	 16384
#define RUNQ_NR_BLAME	 16384
#define RUNQ_MAX_STRIPES 4
#define RUNQ_DEPTH	 12
#define RUNQ_PATH	 720
#define RUNQ_NAME	 256 /* maximum length of a cgroup name, with NUL */

/* How tasks are grouped. */
enum runq_per {
	RUNQ_PER_CGROUP,
	RUNQ_PER_TASK,
	RUNQ_PER_COMM,
	RUNQ_PER_CPU,
	RUNQ_PER_CGROUP_COMM, /* one group for all tasks of a cgroup that have the same name */
};

/* Causes of wait time. */
enum runq_cause {
	RUNQ_IDLE,	/* wait time while the core leaves its idle state */
	RUNQ_SAME,	/* wait time behind tasks of the same group */
	RUNQ_OTHER,	/* wait time behind tasks of another group */
	RUNQ_KTHREAD,	/* wait time behind kernel threads */
	RUNQ_PREEMPTED, /* wait time of a wait that began with a preemption */
	RUNQ_NR_HOT,
	RUNQ_THROTTLED = RUNQ_NR_HOT, /* wait time that CPU quota caused */
	RUNQ_MIGRATED,		      /* wait time on another core before a migration */
	RUNQ_UNKNOWN,		      /* wait time before the oldest recorded switch of the core */
	RUNQ_NR_CAUSES,
};

/*
 * Without causes, each whole wait is added to RUNQ_WHOLE, because the wait time of a group is the
 * sum over all causes.
 */
#define RUNQ_WHOLE RUNQ_IDLE

/*
 * Limit of short waits. Almost all waits are shorter than RUNQ_QUICK_NS and are counted by the fast
 * path. RUNQ_QUICK_NS - 1 can be encoded in an arm64 compare instruction.
 */
#define RUNQ_QUICK_NS	 (0xf000 + 1)
#define RUNQ_NR_QUICK	 (0x10000 / HIST_SUB)
/*
 * Table that maps short waits to buckets of struct runq_hist. The index of an element is the wait
 * in ns / HIST_SUB. An element is the bucket number minus RUNQ_QUICK_FIRST, or one of two special
 * values. RUNQ_QUICK_SHIFT + N: the element covers several buckets, selected by wait >> N.
 * RUNQ_QUICK_LE: a boundary of --le divides the waits of the element.
 */
#define RUNQ_QUICK_FIRST ((HIST_SUB_BITS + 1) * HIST_SUB)
#define RUNQ_QUICK_SHIFT 0xd0
#define RUNQ_QUICK_LE	 0xe0

/*
 * Reserved keys of culprits that are not groups. Keys of groups are smaller than RUNQ_KEY_EXCLUDED.
 * Key 0 is unused.
 */
#define RUNQ_KEY_IDLE	 ((__u64)-1)
#define RUNQ_KEY_KTHREAD ((__u64)-2)
#define RUNQ_KEY_QUOTA	 ((__u64)-3)
#define RUNQ_KEY_UNKNOWN ((__u64)-4)
#define RUNQ_KEY_MOVED	 ((__u64)-5)
#define RUNQ_KEY_OTHER	 ((__u64)-6)
/* key of every culprit group that the filter excludes (RUNQ_SLOT_UNWANTED) */
#define RUNQ_KEY_EXCLUDED ((__u64)-7)

/*
 * A slot has the counters of one group of tasks. A slot consists of this head, up to
 * RUNQ_MAX_STRIPES histograms (stripes), and a struct runq_cell and a struct runq_cold per CPU. The
 * flag RUNQ_STEPS selects the kind of histogram before the programs are loaded. Counters only grow.
 * If a slot is reused for another group, the slot's counters are not reset. The reader subtracts an
 * earlier snapshot of the slot's counters. Slot 0 counts the waits of all groups that have no slot.
 */
struct runq_head {
	__u64 key; /* key of the group; 0 if the slot is free */
	__u64 cgroup_id;
	__u32 gone; /* 1 if the cgroup of the slot was removed */
	__u32 pid;
	__u32 tgid;
	/* number of names in path[], leaf first; RUNQ_DEPTH if path[] may be incomplete */
	__u32 depth;
	char comm[16];
	/* names of the cgroup and its ancestors; each name ends with NUL */
	char path[RUNQ_PATH + RUNQ_NAME];
};

_Static_assert(sizeof(struct runq_head) == 1024, "what follows begins on a cache line");

#define RUNQ_NR_RARE (RUNQ_NR_CAUSES - RUNQ_NR_HOT)

/*
 * Histogram of waits in log-linear buckets. The width of a bucket is at most 3.125 % of its lower
 * bound.
 */
struct runq_hist {
	__u64 count[HIST_NR];
	/*
	 * Element i: number of waits in the bucket that contains boundary i of --le, counting only
	 * waits that are not longer than boundary i.
	 */
	__u64 below[RUNQ_NR_LE];
	/*
	 * wait time by rare cause (enum runq_cause), one copy per histogram instead of one per CPU
	 */
	__u64 rare_ns[RUNQ_NR_RARE];
	__u64 pad[8 - RUNQ_NR_RARE];
};

/*
 * Histogram with one bucket per boundary of --le. struct runq_steps cannot yield percentiles, but
 * needs 1/26 of the memory of struct runq_hist.
 */
struct runq_steps {
	/*
	 * Element i: number of waits that are longer than boundary i - 1 of --le and not longer
	 * than boundary i. The last element counts all waits that are longer than the last
	 * boundary.
	 */
	__u64 count[RUNQ_NR_LE + 1];
	__u64 rare_ns[RUNQ_NR_RARE];
	__u64 pad[4];
};

_Static_assert(sizeof(struct runq_hist) == 8512 && sizeof(struct runq_steps) == 320,
	       "cache lines, and in the memory formula of docs/methods/runq.md");

/*
 * Counters of a group on one CPU, in one cache line. Almost every wait changes these counters.
 * Rarely used counters are in struct runq_cold.
 */
struct runq_cell {
	__u64 cause_ns[RUNQ_NR_HOT];
	__u64 max_ns; /* longest wait in ns since the reader last set max_ns to 0 */
	/*
	 * Last throttling of the group by CPU quota on this CPU. Only BPF programs read
	 * throttled_total and throttled_quick.
	 */
	/* the kernel's total throttled time of the group in ns, plus 1; 0 if unknown */
	__u64 throttled_total;
	/*
	 * equal to throttled_total if no short wait can overlap the group's last throttling; else 0
	 */
	__u64 throttled_quick;
};

/* Value of runq_cold.throttled_ns if the total throttled time before the wait is unknown. */
#define RUNQ_THROTTLED_UNKNOWN ((__u64)-1)

struct runq_cold {
	__u64 throttled_ns;
	__u64 throttled_end;
};

/*
 * Key of the last throttlings of a cgroup by CPU quota on one core. struct runq_throttle is used if
 * a group is a task or a part of a cgroup: a wait may overlap several throttlings, and the task may
 * sleep during a throttling.
 */
struct runq_throttle_key {
	__u64 cgroup; /* serial number of the cgroup */
	__u64 cpu;
};

#define RUNQ_NR_LAST 8

struct runq_throttle {
	__u64 nr; /* number of recorded throttlings */
	/*
	 * Ring of the last throttlings of the cgroup on the core. Element nr % RUNQ_NR_LAST
	 * describes the most recent throttling. Before the first recorded throttling, element 0 has
	 * the total throttled time of the cgroup.
	 */
	struct {
		/* total throttled time according to the kernel, plus 1; 0 if unknown */
		__u64 total;
		__u64 end;
	} last[RUNQ_NR_LAST];
};

#define RUNQ_NR_THROTTLES 8192

_Static_assert(sizeof(struct runq_cell) == 64 && sizeof(struct runq_cold) == 16,
	       "in the memory formula of docs/methods/runq.md");

/* Byte offsets of the parts of a slot. @stripe is the size of one histogram (stripe). */
#define RUNQ_HISTS			      sizeof(struct runq_head)
#define RUNQ_CELLS_AT(stripe, stripes)	      (RUNQ_HISTS + (stripes) * (stripe))
#define RUNQ_COLDS_AT(stripe, stripes, cpus) \
	(RUNQ_CELLS_AT(stripe, stripes) + (cpus) * sizeof(struct runq_cell))
#define RUNQ_SLOT_BYTES(stripe, stripes, cpus) \
	((RUNQ_COLDS_AT(stripe, stripes, cpus) + (cpus) * sizeof(struct runq_cold) + 63) / 64 * 64)
/* Offset of the cells, and size, of a slot whose histograms are struct runq_hist. */
#define RUNQ_CELLS(stripes)	      RUNQ_CELLS_AT(sizeof(struct runq_hist), stripes)
#define RUNQ_SLOT_SIZE(stripes, cpus) RUNQ_SLOT_BYTES(sizeof(struct runq_hist), stripes, cpus)

/* Sizes and offsets of a slot, which user space computes once. */
struct runq_layout {
	__u32 cpus, stripes;
	__u32 cells_at;
	__u32 kind; /* flags RUNQ_SHARED and RUNQ_STEPS */
	__u32 slot_size;
	__u32 first_slots; /* number of slots in the first chunk */
};

/*
 * Mask that selects one of 64 switches: (enqueue time of the next task & RUNQ_LEARN) == 0. At these
 * switches the program compares the run queue's clock with CLOCK_MONOTONIC, even if the run queue's
 * clock does not lag.
 */
#define RUNQ_LEARN 0x3f000

#define RUNQ_SHARED 1 /* flag: several cores share a histogram */
#define RUNQ_STEPS  2 /* flag: slots contain struct runq_steps, not struct runq_hist */

/*
 * Reference to a slot. A reference below RUNQ_LATER_CHUNK is a byte offset in the first chunk of
 * slots, which has a fixed address. Any other reference is RUNQ_LATER_CHUNK + the number of a slot
 * in the later chunks. Programs limit the offset by a bitwise AND with RUNQ_FIRST_MASK, because a
 * comparison costs more. Each masked offset is inside the first chunk. The offset selects the
 * address RUNQ_TO_CELLS below the cells of the slot, so that the distances to the histograms and to
 * the cells fit into an instruction.
 */
#define RUNQ_LATER_CHUNK (1U << 24)
/*
 * Bit that is inverted in the group key of struct runq_task if the fast path must not count the
 * waits of the task, so that quick_short() does not find the key of the group.
 */
#define RUNQ_SLOW_KEY	 (1U << 31)
#define RUNQ_MAX_CPUS	 2048 /* maximum number of CPUs; a power of two */
#define RUNQ_FIRST_SIZE	 (2U << 20)
/* Slots are aligned to cache lines, because atomic operations need aligned counters. */
#define RUNQ_FIRST_MASK	 (RUNQ_FIRST_SIZE - 64)
#define RUNQ_FIRST_CELLS RUNQ_CELLS(RUNQ_MAX_STRIPES) /* byte offset of the cells within slot 0 */
/* The first chunk begins with the table of short waits (see RUNQ_QUICK_FIRST); the slots follow. */
#define RUNQ_FIRST_TABLE RUNQ_NR_QUICK
#define RUNQ_FIRST_BYTES                                         \
	(RUNQ_FIRST_TABLE + RUNQ_FIRST_CELLS + RUNQ_FIRST_SIZE + \
	 RUNQ_MAX_CPUS * (sizeof(struct runq_cell) + sizeof(struct runq_cold)))
#define RUNQ_TO_CELLS	 1344 /* number of bytes from the referenced address to the slot's cells */
_Static_assert(RUNQ_TO_CELLS <= RUNQ_CELLS_AT(sizeof(struct runq_steps), 1),
	       "the reference is inside the slot: the verifier of 7.2 refuses one before it");
_Static_assert(RUNQ_MAX_STRIPES * sizeof(struct runq_hist) - RUNQ_TO_CELLS <= 1 << 15,
	       "the distance to the histograms fits into an instruction");
/*
 * The fast path uses only slots of the first chunk. The fast path addresses the counters of a slot
 * by a base address and positive offsets, because arm64 loads cannot have large negative offsets.
 * The base address is RUNQ_QUICK_TO_CELLS below the cells, possibly below the start of the slot.
 */
#define RUNQ_QUICK_TO_CELLS 32704
_Static_assert(RUNQ_QUICK_TO_CELLS + sizeof(struct runq_cell) <= 1 << 15 &&
	       RUNQ_QUICK_TO_CELLS + RUNQ_QUICK_FIRST * sizeof(__u64) >=
		       RUNQ_MAX_STRIPES * sizeof(struct runq_hist),
	       "cells and the most used buckets are in reach");

/*
 * Bit that user space sets in runq_head.depth of each group that the filter excludes. For the tasks
 * of an excluded group, the programs store RUNQ_SLOT_UNWANTED as the slot reference and do not
 * count waits.
 */
#define RUNQ_UNWANTED	    (1U << 31)
#define RUNQ_SLOT_UNWANTED  ((__u32)RUNQ_KEY_EXCLUDED)

/* Parameters that select a sample of the waits; user space sets the values. */
struct runq_sample {
	__u64 factor; /* random odd multiplier of the hash that selects waits */
	/* sampling ratio × 2^64: a wait is sampled if the hash of the wait is below this value */
	__u64 below;
};

/*
 * A running task in one word: the pid of the task, and the slot reference of the task's group or a
 * value RUNQ_WHO_*.
 */
#define RUNQ_RAN(who, pid) ((__u64)(pid) << 32 | (__u32)(who))
#define RUNQ_RAN_WHO(ran)  ((__u32)(ran))
#define RUNQ_RAN_PID(ran)  ((__u32)((ran) >> 32))

/*
 * Data of a task, in a table with the index pid modulo table size. Two tasks with the same index
 * share an entry. A tag in `delay` identifies the task whose run_delay is stored. Each member of an
 * entry is one word, so a read never sees half of a concurrent write.
 */
struct runq_task {
	__u64 delay; /* run_delay after the task's last dispatch, and the tag of the task */
	__u64 group; /* slot reference of the group, and the lower half of its key */
};

#define RUNQ_GROUP(slot_ref, key) ((__u64)(slot_ref) << 32 | (__u32)(key))
/*
 * Initial values of the members of struct runq_task. A stored `delay` is never RUNQ_NO_DELAY, and a
 * stored `group` is never RUNQ_NO_GROUP.
 */
#define RUNQ_NO_DELAY (3ULL << 62)
#define RUNQ_NO_GROUP ((__u64)-1)

/* Time segment of a core: one task ran from start_ns until the start of the next segment. */
struct runq_seg {
	__u64 start_ns; /* start of the segment by the run queue's clock; 0 if unknown */
	__u64 ran;	/* task that ran: RUNQ_RAN() */
};

#define RUNQ_SEG_STEP 16

_Static_assert(sizeof(struct runq_seg) == RUNQ_SEG_STEP, "the head of a ring is in bytes");

/* Values of RUNQ_RAN_WHO() for running tasks without a group, in the order of RUNQ_KEY_*. */
#define RUNQ_WHO_IDLE	 ((__u32)-1)
#define RUNQ_WHO_KTHREAD ((__u32)-2)
#define RUNQ_WHO_QUOTA	 ((__u32)-3)

/* State of the loop over the time segments that a wait overlaps; used only by the BPF programs. */
struct runq_walk {
	__u64 key;
	__u64 pid;
	/* enqueue time of the waiting task on this core; with --source wakeup, start of the wait */
	__u64 from;
	__u64 to;
	/*
	 * start of the throttled part of the wait; equal to throttled_to if the wait has no
	 * throttled part
	 */
	__u64 throttled_from;
	__u64 throttled_to;
	__u64 left; /* end of the part of the wait that is not yet assigned to a cause */
	__u64 moved_ns;
	__u64 cause_ns[RUNQ_NR_CAUSES];
	__u64 culprit_ns;
	/*
	 * culprit of the longest time segment or the longest throttling of the wait, encoded as by
	 * RUNQ_RAN_WHO(); 0 if there is none
	 */
	__u32 culprit;
	__u32 slot;
	/* 1 if the throttled time between throttled_from and throttled_to is unknown */
	__u64 throttled_unknown;
	__u64 pad[5];
};

/*
 * Offset of a run queue's clock from CLOCK_MONOTONIC. User space sets the initial values of struct
 * runq_clock.
 */
struct runq_clock {
	/*
	 * CLOCK_MONOTONIC minus the run queue's clock, measured just after an update of the run
	 * queue's clock
	 */
	__s64 off;
	__u64 at;    /* CLOCK_MONOTONIC when `off` was measured */
	__s64 drift; /* growth of `off` in ns per 2^32 ns */
	/* smallest lag of the run queue's clock since epoch_at, and the offset at that time */
	__s64 low_late, low_off;
	__u64 low_at;
	__u64 epoch_at;
	__u64 looks;
	/* earlier values of low_off and low_at, from which `drift` is computed */
	__s64 anchor_off;
	__u64 anchor_at;
	__u64 learned;
	__u64 pad[5];
};

/* initial value of runq_clock.off, larger than any real offset */
#define RUNQ_CLOCK_UNSET ((__s64)1 << 62)

struct runq_cpu {
	/* first cache line: fields that the fast path uses */
	__u32 skip;	     /* 1 if --cpu does not select this core */
	/* byte offset in segs[] to which the current segment is copied when it ends */
	__u32 head;
	struct runq_seg now; /* current segment */
	/* runq_clock.off plus the drift; a timestamp if the offset is unknown */
	__s64 off;
	__u64 until;	     /* value of CLOCK_MONOTONIC until which the offset `off` is valid */
	__u64 mono;	     /* CLOCK_MONOTONIC at the switch, for the slow path */
	__s64 missing_ns;   /* wait time that runq counts and the kernel's run_delay lacks */
	__u64 switches;	    /* number of waits of all groups that the slow path counted */
	/* fields that the slow path uses */
	/*
	 * sum of two wait times: of waits outside of the sample, and of waits of groups whose slot
	 * is outside of the first chunk
	 */
	__u64 wait_ns;
	/* start of the core's last wait, as in runq_walk.from; only BPF programs read `from` */
	__u64 from;
	__u64 to;
	__u64 unknown_start;
	__u64 table_full; /* number of waits counted in slot 0, for groups without a slot */
	__u64 negative;
	__u64 events_lost;
	__u64 blame_full;
	/* next time segment; replaces `now` after the wait has been counted */
	struct runq_seg next;
	__u64 rows; /* highest number of a blame row that this core allocated, plus 1 */
	__u64 pad[5];
	struct runq_clock clock;
	struct runq_seg segs[RUNQ_NR_SEGS];
	struct runq_walk walk;
};

_Static_assert(sizeof(struct runq_cpu) == 2560, "whole cache lines");

struct runq_pair {
	__u64 victim;
	__u64 culprit;
};

struct runq_charge {
	__u64 wait_ns;
	__u64 count;
};

/*
 * Row of the blame table: counts of one pair of victim and culprit. The map row_of contains the row
 * number of each pair. User space reads the rows of the blame table by mmap. A new pair of victim
 * and culprit gets a freed row, or else a row that was never used. The counters of a row are not
 * reset if another pair gets the row. Row 0 counts the waits of all pairs without a row.
 */
struct runq_row {
	struct runq_pair pair; /* keys of victim and culprit; both keys are 0 if the row is free */
	struct runq_charge charge;
};

_Static_assert(sizeof(struct runq_row) == 32, "in the memory formula of docs/methods/runq.md");

/*
 * Hash table of each core in which the fast path counts blame. A pair of victim and culprit keeps
 * its cell of the hash table until one of the two groups ends. If another pair uses the cell, the
 * waits of the pair are counted in a struct runq_row. The counters of a struct runq_pair_cell
 * only grow. User space adds the counters of the cell and of the row of each pair.
 */
#define RUNQ_NR_PAIRS	 512
#define RUNQ_PAIRS_BYTES (RUNQ_NR_PAIRS * sizeof(struct runq_pair_cell))

struct runq_pair_cell {
	__u64 pair; /* RUNQ_PAIR() of victim and culprit; 0 if the cell is free */
	__u64 wait_ns;
	__u64 count;
	__u64 pad;
};

/* A pair in one word: slot reference of the victim, and the culprit as in RUNQ_RAN_WHO(). */
#define RUNQ_PAIR(victim, who)	 ((__u64)(who) << 32 | (__u32)(victim))
#define RUNQ_PAIR_VICTIM(pair)	 ((__u32)(pair))
#define RUNQ_PAIR_WHO(pair)	 ((__u32)((pair) >> 32))
/* Byte offset of the cell of a pair in the hash table. */
#define RUNQ_PAIR_AT(pair) \
	((pair) * 0x9e3779b97f4a7c15ULL >> 50 & (RUNQ_NR_PAIRS - 1) * sizeof(struct runq_pair_cell))

_Static_assert(sizeof(struct runq_pair_cell) == 32 && RUNQ_PAIRS_BYTES == 1 << 14,
	       "14 bits of the product, of which the lower 5 are masked");

enum runq_event_kind {
	RUNQ_EVENT_NEW, /* a new group got a slot, so user space may have to add a chunk of slots */
	RUNQ_EVENT_WAIT,
};

struct runq_event {
	__u32 kind;
	__u32 cpu;
	__u64 key;
	__u64 culprit; /* key of the group that ran for the largest part of the wait */
	__u64 culprit_ns;
	__u64 wait_ns;
	__u64 time_ns; /* end of the wait, CLOCK_MONOTONIC */
	__u32 pid;
	__u32 tgid;
	__u32 prev_pid; /* pid of the task that ran on the core before the end of the wait */
	__u32 pad;
	char comm[16];
	char prev_comm[16];
};

_Static_assert(sizeof(struct runq_event) == 96, "no padding");

#endif
