/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What bpf/runq.bpf.c keeps per group of tasks and per CPU, and lib/measure/runq/kernel.c reads. */
#ifndef SUBTICK_ABI_RUNQ_H
#define SUBTICK_ABI_RUNQ_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "abi/hist.h"

#define RUNQ_NR_LE	 32
#define RUNQ_NR_SEGS	 128 /* run segments per core, the next one included; a power of two */
#define RUNQ_NR_STEP	 30  /* segments that one call looks at: verifiers look at each step */
#define RUNQ_NR_WALK	 120 /* segments that a walk looks at; the one before them must be valid too */
#define RUNQ_CHUNK	 128 /* slots per chunk; a power of two */
#define RUNQ_NR_CHUNKS	 256
#define RUNQ_NR_SLOTS	 (RUNQ_CHUNK * RUNQ_NR_CHUNKS)
#define RUNQ_NR_TASKS	 65536 /* entries of the table by pid; a power of two */
#define RUNQ_NR_EXITS	 16384
#define RUNQ_NR_BLAME	 16384
#define RUNQ_MAX_STRIPES 4
#define RUNQ_DEPTH	 12
#define RUNQ_PATH	 720
#define RUNQ_NAME	 256 /* the longest name a cgroup can have, and its NUL */

/* What makes tasks a group. */
enum runq_per {
	RUNQ_PER_CGROUP,
	RUNQ_PER_TASK,
	RUNQ_PER_COMM,
	RUNQ_PER_CPU,
	RUNQ_PER_CGROUP_COMM, /* tasks of one name in one cgroup, for filters of cgroups */
};

/* What happened while a task waited: every wait is split into these. */
enum runq_cause {
	RUNQ_IDLE,	/* the core was idle: leaving the idle state, not contention */
	RUNQ_SAME,	/* behind tasks of the same group */
	RUNQ_OTHER,	/* behind tasks of another group */
	RUNQ_KTHREAD,	/* behind kernel threads */
	RUNQ_PREEMPTED, /* the wait began when the task lost the core while runnable */
	RUNQ_NR_HOT,
	RUNQ_THROTTLED = RUNQ_NR_HOT, /* by CPU quota */
	RUNQ_MIGRATED,		      /* queued on another core before it was moved here */
	RUNQ_UNKNOWN,		      /* before the oldest switch that the core remembers */
	RUNQ_NR_CAUSES,
};

/* Where the whole wait is booked if causes are not asked for; the sum over all of them stays right. */
#define RUNQ_WHOLE RUNQ_IDLE

/*
 * Waits below this, which is almost all of them, can be counted by the quick path. The last one is
 * a number that arm64 compares with in one instruction.
 */
#define RUNQ_QUICK_NS	 (0xf000 + 1)
#define RUNQ_NR_QUICK	 (0x10000 / HIST_SUB)
/*
 * What a table by wait / HIST_SUB says of a wait's bucket: how far it is from the first one that is
 * as wide as that, or for waits in narrower ones by how much to shift them, or that a boundary lies
 * there: then the other path counts it.
 */
#define RUNQ_QUICK_FIRST ((HIST_SUB_BITS + 1) * HIST_SUB)
#define RUNQ_QUICK_SHIFT 0xd0
#define RUNQ_QUICK_LE	 0xe0

/* Keys that are no group, RUNQ_KEY_EXCLUDED the smallest; keys of groups are smaller. 0 is nobody. */
#define RUNQ_KEY_IDLE	 ((__u64)-1)
#define RUNQ_KEY_KTHREAD ((__u64)-2)
#define RUNQ_KEY_QUOTA	 ((__u64)-3)
#define RUNQ_KEY_UNKNOWN ((__u64)-4)
#define RUNQ_KEY_MOVED	 ((__u64)-5)
#define RUNQ_KEY_OTHER	 ((__u64)-6)
#define RUNQ_KEY_EXCLUDED ((__u64)-7) /* a culprit whose name RUNQ_PLACE_UNWANTED hides */

/*
 * A slot is one array element: the head, a histogram per stripe, a cell per CPU, a cold part per
 * CPU. Which kind of histogram is decided when the programs are loaded. Counters only grow; when a
 * slot gets a new owner they go on, and the reader remembers their values at that time. Slot 0 is
 * for groups that find no free slot.
 */
struct runq_head {
	__u64 key; /* 0: free */
	__u64 cgroup_id;
	__u32 gone; /* its cgroup was removed */
	__u32 pid;
	__u32 tgid;
	__u32 depth; /* names in path[], from the leaf up; RUNQ_DEPTH: there may be more above */
	char comm[16];
	char path[RUNQ_PATH + RUNQ_NAME]; /* each name ends with NUL */
};

_Static_assert(sizeof(struct runq_head) == 1024, "what follows begins on a cache line");

#define RUNQ_NR_RARE (RUNQ_NR_CAUSES - RUNQ_NR_HOT)

/* Every wait, within 3.125 %. */
struct runq_hist {
	__u64 count[HIST_NR];
	/* Of the bucket in which le boundary i lies: waits not above the boundary. */
	__u64 below[RUNQ_NR_LE];
	__u64 rare_ns[RUNQ_NR_RARE]; /* causes that few waits have: not worth room per CPU */
	__u64 pad[8 - RUNQ_NR_RARE];
};

/* Only what counts at boundaries need, for those who do not ask for percentiles: 1/26 of the size. */
struct runq_steps {
	/* Waits not above le boundary i, but above the one before it; after the last: all longer ones. */
	__u64 count[RUNQ_NR_LE + 1];
	__u64 rare_ns[RUNQ_NR_RARE];
	__u64 pad[4];
};

_Static_assert(sizeof(struct runq_hist) == 8512 && sizeof(struct runq_steps) == 320,
	       "cache lines, and in the memory formula of docs/methods/runq.md");

/* One cache line for what almost every wait touches; the rest is in struct runq_cold. */
struct runq_cell {
	__u64 cause_ns[RUNQ_NR_HOT];
	__u64 max_ns; /* the reader sets it back to 0 */
	/* The last throttling seen on this core; only for the programs. */
	__u64 held_clock; /* the kernel's total of throttled time, + 1 */
	__u64 held_quick; /* the same once no short wait can reach back to it any more, else 0 */
};

/* held_ns if throttling may have ended, and the total before it is unknown. */
#define RUNQ_HELD_UNKNOWN ((__u64)-1)

struct runq_cold {
	__u64 held_ns;
	__u64 held_end;
};

_Static_assert(sizeof(struct runq_cell) == 64 && sizeof(struct runq_cold) == 16,
	       "in the memory formula of docs/methods/runq.md");

/* In this order, after the head; @stripe is the size of a histogram. */
#define RUNQ_HISTS			      sizeof(struct runq_head)
#define RUNQ_CELLS_AT(stripe, stripes)	      (RUNQ_HISTS + (stripes) * (stripe))
#define RUNQ_COLDS_AT(stripe, stripes, cpus) \
	(RUNQ_CELLS_AT(stripe, stripes) + (cpus) * sizeof(struct runq_cell))
#define RUNQ_SLOT_BYTES(stripe, stripes, cpus) \
	((RUNQ_COLDS_AT(stripe, stripes, cpus) + (cpus) * sizeof(struct runq_cold) + 63) / 64 * 64)
/* The same with fine histograms. */
#define RUNQ_CELLS(stripes)	      RUNQ_CELLS_AT(sizeof(struct runq_hist), stripes)
#define RUNQ_COLDS(stripes, cpus)     RUNQ_COLDS_AT(sizeof(struct runq_hist), stripes, cpus)
#define RUNQ_SLOT_SIZE(stripes, cpus) RUNQ_SLOT_BYTES(sizeof(struct runq_hist), stripes, cpus)

/* The same as offsets, computed once by user space rather than at every switch. */
struct runq_layout {
	__u32 cpus, stripes;
	__u32 cells_at;
	__u32 kind; /* RUNQ_SHARED, RUNQ_STEPS */
	__u32 slot_size;
	__u32 near; /* slots in the first chunk */
};

/*
 * A switch whose clock does not lag measures the clock all the same, to learn from it, if these bits of the
 * time at which the task was queued are 0: one in 64.
 */
#define RUNQ_LEARN 0x3f000

#define RUNQ_SHARED 1 /* several cores share a histogram */
#define RUNQ_STEPS  2 /* slots have struct runq_steps, not struct runq_hist */

/*
 * Where a slot is, as the programs keep it: below RUNQ_FAR its offset in the first chunk, which is
 * memory at a fixed address; above it the slot's number beyond those. Offsets are masked rather
 * than compared, which is cheaper, and the memory is large enough for any of them. A slot is known
 * by a point between its histograms, which are before it, and its cells: both are at constant
 * distances from there that fit into an instruction.
 */
#define RUNQ_FAR	 (1U << 24)
#define RUNQ_FAR_KEY	 (1U << 31) /* flipped in the key of a task's entry: the quick path has no match */
#define RUNQ_MAX_CPUS	 2048 /* a power of two */
#define RUNQ_NEAR_SIZE	 (2U << 20)
#define RUNQ_NEAR_MASK	 (RUNQ_NEAR_SIZE - 64) /* slots begin on cache lines: atomics must know */
#define RUNQ_NEAR_CELLS	 RUNQ_CELLS(RUNQ_MAX_STRIPES) /* of slot 0 */
/* The memory: first the table of short waits (RUNQ_QUICK_FIRST), then the slots. */
#define RUNQ_NEAR_TABLE	 RUNQ_NR_QUICK
#define RUNQ_NEAR_BYTES                                        \
	(RUNQ_NEAR_TABLE + RUNQ_NEAR_CELLS + RUNQ_NEAR_SIZE + \
	 RUNQ_MAX_CPUS * (sizeof(struct runq_cell) + sizeof(struct runq_cold)))
#define RUNQ_TO_CELLS	 1344 /* from the point to the cells */
_Static_assert(RUNQ_TO_CELLS <= RUNQ_CELLS_AT(sizeof(struct runq_steps), 1),
	       "the point is in the slot: the verifier of 7.2 accepts none before it");
_Static_assert(RUNQ_MAX_STRIPES * sizeof(struct runq_hist) - RUNQ_TO_CELLS <= 1 << 15,
	       "the distance to the histograms fits into an instruction");
/*
 * The quick path knows only slots of the first chunk and has a point of its own, which is before
 * the slot if that has fewer histograms: all that it touches is after it, as far as an instruction of
 * arm64 reaches, which does not reach back.
 */
#define RUNQ_QUICK_TO_CELLS 32704
_Static_assert(RUNQ_QUICK_TO_CELLS + sizeof(struct runq_cell) <= 1 << 15 &&
	       RUNQ_QUICK_TO_CELLS + RUNQ_QUICK_FIRST * sizeof(__u64) >=
		       RUNQ_MAX_STRIPES * sizeof(struct runq_hist),
	       "cells and the buckets of a histogram that are used most are in reach");

/*
 * A group that was not requested: user space sets the bit in the depth of its slot once it has read
 * the name, and the entries of its tasks get this place, whose waits the programs do not count.
 */
#define RUNQ_UNWANTED	    (1U << 31)
#define RUNQ_PLACE_UNWANTED ((__u32)RUNQ_KEY_EXCLUDED)

/* Which waits are in the sample; user space sets it. */
struct runq_sample {
	__u64 factor; /* random and odd */
	__u64 below; /* of 2^64 */
};

/* Who ran, as one word: the place of the group's slot, or one of RUNQ_WHO_, and the pid. */
#define RUNQ_RAN(who, pid) ((__u64)(pid) << 32 | (__u32)(who))
#define RUNQ_RAN_WHO(ran)  ((__u32)(ran))
#define RUNQ_RAN_PID(ran)  ((__u32)((ran) >> 32))


/*
 * A task, by pid modulo the size of the table. Two tasks may share an entry: a tag in the delay
 * tells them apart, and a place is used only with the key that it is for. Each is one word, so
 * that cores cannot tear it.
 */
struct runq_task {
	__u64 delay; /* run_delay after the last dispatch, and the tag */
	__u64 group; /* the place of the group's slot, and the lower half of the group's key */
};

#define RUNQ_GROUP(place, key) ((__u64)(place) << 32 | (__u32)(key))
/* With these an entry begins: no delay is near to it, and there is no such place. */
#define RUNQ_NO_DELAY (3ULL << 62)
#define RUNQ_NO_GROUP ((__u64)-1)

/* Who ran from start_ns until the next segment starts. */
struct runq_seg {
	__u64 start_ns; /* 0: nothing known */
	__u64 ran;	/* RUNQ_RAN() */
};

#define RUNQ_SEG_STEP 16

_Static_assert(sizeof(struct runq_seg) == RUNQ_SEG_STEP, "the head of a ring is in bytes");

/* What runs and is no group, in the order of the keys above. */
#define RUNQ_WHO_IDLE	 ((__u32)-1)
#define RUNQ_WHO_KTHREAD ((__u32)-2)
#define RUNQ_WHO_QUOTA	 ((__u32)-3)

/* One wait while it is compared with the segments; only for the programs. */
struct runq_walk {
	__u64 key;
	__u64 pid;
	__u64 from; /* when it was queued on this core; with source wakeup, the start of the wait */
	__u64 to;
	__u64 held_from; /* throttled inside the wait; equal for not at all */
	__u64 held_to;
	__u64 left; /* the time before this is not charged to anybody yet */
	__u64 moved_ns;
	__u64 cause_ns[RUNQ_NR_CAUSES];
	__u64 culprit_ns;
	__u32 culprit; /* as runq_seg.who; 0: nobody */
	__u32 slot;
	__u64 held_unknown; /* whether the wait was throttled from held_from to held_to is unknown */
	__u64 pad[5];
};

/* A run queue's clock against CLOCK_MONOTONIC; user space only sets the start. */
struct runq_clock {
	__s64 off;   /* CLOCK_MONOTONIC minus the run queue's clock just after its update */
	__u64 at;    /* when that was, by CLOCK_MONOTONIC */
	__s64 drift; /* growth of off, in 2^-32 ns per ns */
	/* The reading with the least lag since epoch_at. */
	__s64 low_late, low_off;
	__u64 low_at;
	__u64 epoch_at;
	__u64 looks;
	/* Where drift is learned from. */
	__s64 anchor_off;
	__u64 anchor_at;
	__u64 learned;
	__u64 pad[5];
};

#define RUNQ_CLOCK_UNSET ((__s64)1 << 62) /* as off: greater than any real one */

struct runq_cpu {
	/* One cache line for the quick path. */
	__u32 skip;	     /* not selected with --cpu */
	__u32 head;	     /* where in segs[] the segment that runs now goes when it ends, in bytes */
	struct runq_seg now; /* the segment that runs */
	__s64 off;	     /* as runq_clock.off, as of about now; a time if it must be learned */
	__u64 until;	     /* end of the time for which off is near enough, by CLOCK_MONOTONIC */
	__u64 mono;	     /* CLOCK_MONOTONIC at the switch, for the slow path */
	__s64 unbooked_ns;   /* wait time that the kernel does not add to run_delay */
	__u64 switches;	     /* dispatches that ended a wait, without those of the quick path */
	/* The slow path. */
	__u64 wait_ns; /* waits that are not in a slot of the first chunk */
	__u64 from;    /* of the last wait, as in runq_walk; only for the programs */
	__u64 to;
	__u64 unknown_start;
	__u64 table_full; /* waits counted in slot 0 */
	__u64 negative;
	__u64 events_lost;
	__u64 blame_full;
	struct runq_seg next; /* what runs next, while a wait is charged */
	__u64 rows; /* of blame: 1 + the highest that this core has taken */
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
 * Blame, by numbers that the programs find in a map of pairs. The rows are mapped, so that user space
 * reads them without a system call. A pair gets a row that was freed, else one that was never taken.
 * Counters only grow, also when another pair takes the row. Row 0 is for pairs that find no free one.
 */
struct runq_row {
	struct runq_pair pair; /* both 0: free */
	struct runq_charge charge;
};

_Static_assert(sizeof(struct runq_row) == 32, "in the memory formula of docs/methods/runq.md");

/*
 * Blame for the quick path: a table per core, in which a pair has one place and keeps it until one
 * of the two groups ends. A pair whose place is taken has a row. Counters only grow; user space adds
 * up the tables and the rows.
 */
#define RUNQ_NR_PAIRS	 512
#define RUNQ_PAIRS_BYTES (RUNQ_NR_PAIRS * sizeof(struct runq_pair_cell))

struct runq_pair_cell {
	__u64 pair; /* RUNQ_PAIR(); 0: free */
	__u64 wait_ns;
	__u64 count;
	__u64 pad;
};

/* The place of the victim's slot, and who ran. */
#define RUNQ_PAIR(victim, who)	 ((__u64)(who) << 32 | (__u32)(victim))
#define RUNQ_PAIR_VICTIM(pair)	 ((__u32)(pair))
#define RUNQ_PAIR_WHO(pair)	 ((__u32)((pair) >> 32))
/* Where in the table, in bytes. */
#define RUNQ_PAIR_AT(pair) \
	((pair) * 0x9e3779b97f4a7c15ULL >> 50 & (RUNQ_NR_PAIRS - 1) * sizeof(struct runq_pair_cell))

_Static_assert(sizeof(struct runq_pair_cell) == 32 && RUNQ_PAIRS_BYTES == 1 << 14,
	       "14 bits of the product, of which the lower 5 are masked");

enum runq_event_kind {
	RUNQ_EVENT_NEW, /* a group got a slot: user space may have to add more */
	RUNQ_EVENT_WAIT,
};

struct runq_event {
	__u32 kind;
	__u32 cpu;
	__u64 key;
	__u64 culprit; /* who ran for the largest part of the wait */
	__u64 culprit_ns;
	__u64 wait_ns;
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u32 pid;
	__u32 tgid;
	__u32 prev_pid; /* who ran last */
	__u32 pad;
	char comm[16];
	char prev_comm[16];
};

_Static_assert(sizeof(struct runq_event) == 96, "no padding");

#endif
