/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What bpf/runq.bpf.c keeps per group of tasks and per CPU, and lib/measure/runq/kernel.c reads. */
#ifndef SUBTICK_ABI_RUNQ_H
#define SUBTICK_ABI_RUNQ_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "abi/hist.h"

#define RUNQ_NR_LE	 32
#define RUNQ_NR_SEGS	 32  /* run segments per core, with the next one; a power of two */
#define RUNQ_NR_WALK	 30  /* those that a walk may look at, and who ran before the last */
#define RUNQ_NR_CACHE	 64  /* groups that one core finds without a hash; a power of two */
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

/* What a group of tasks is. */
enum runq_per {
	RUNQ_PER_CGROUP,
	RUNQ_PER_TASK,
	RUNQ_PER_COMM,
	RUNQ_PER_CPU,
};

/* Why the time passed: a partition of every wait. Order is ABI between the two halves only. */
enum runq_cause {
	RUNQ_IDLE,	/* the core was idle: the way out of idle, not contention */
	RUNQ_SAME,	/* behind tasks of the same group */
	RUNQ_OTHER,	/* behind tasks of another group */
	RUNQ_KTHREAD,	/* behind kernel threads */
	RUNQ_PREEMPTED, /* the wait began with losing the core while runnable */
	RUNQ_NR_HOT,
	RUNQ_THROTTLED = RUNQ_NR_HOT, /* held by CPU quota */
	RUNQ_MIGRATED,		      /* queued on another core before it was moved here */
	RUNQ_UNKNOWN,		      /* longer ago than the core remembers */
	RUNQ_NR_CAUSES,
};

/* Keys of no group; real ones are smaller. 0 is nobody. */
#define RUNQ_KEY_IDLE	 ((__u64)-1)
#define RUNQ_KEY_KTHREAD ((__u64)-2)
#define RUNQ_KEY_QUOTA	 ((__u64)-3)
#define RUNQ_KEY_UNKNOWN ((__u64)-4)
#define RUNQ_KEY_MOVED	 ((__u64)-5)
#define RUNQ_KEY_OTHER	 ((__u64)-6)

/*
 * A slot is one array element: head, then a cell per CPU, then a histogram per stripe. Counters
 * only ever grow; a slot that changes hands keeps them, and the reader remembers where the new
 * owner began. Slot 0 takes what found no slot.
 */
struct runq_head {
	__u64 key; /* 0: nobody's */
	__u64 cgroup_id;
	__u32 gone; /* its cgroup was removed */
	__u32 pid;
	__u32 tgid;
	__u32 depth; /* names in path[], from the leaf up; RUNQ_DEPTH: there may be more */
	char comm[16];
	char path[RUNQ_PATH + RUNQ_NAME]; /* each name ends with NUL */
};

_Static_assert(sizeof(struct runq_head) == 1024, "keeps what follows on cache lines");

struct runq_hist {
	__u64 count[HIST_NR];
	/* Of the bucket that holds le boundary i, how many were not above it. */
	__u64 below[RUNQ_NR_LE];
};

/* One cache line for what almost every wait touches, and half of one for the rest. */
struct runq_cell {
	__u64 cause_ns[RUNQ_NR_HOT];
	__u64 max_ns; /* the reader takes it and leaves 0 */
	/* The last throttling seen on this core; private to the programs. */
	__u64 held_clock; /* the kernel's total + 1 */
	__u64 held_end;
};

struct runq_cold {
	__u64 cause_ns[RUNQ_NR_CAUSES - RUNQ_NR_HOT];
	__u64 held_ns;
};

_Static_assert(sizeof(struct runq_cell) == 64 && sizeof(struct runq_cold) == 32,
	       "in the memory formula of docs/methods/runq.md");

#define RUNQ_CELLS		      sizeof(struct runq_head)
#define RUNQ_COLDS(cpus)	      (RUNQ_CELLS + (cpus) * sizeof(struct runq_cell))
#define RUNQ_HISTS(cpus)	      ((RUNQ_COLDS(cpus) + (cpus) * sizeof(struct runq_cold) + 63) / 64 * 64)
#define RUNQ_SLOT_SIZE(stripes, cpus) (RUNQ_HISTS(cpus) + (stripes) * sizeof(struct runq_hist))

/* The same as offsets, which the programs are told rather than work out at every switch. */
struct runq_layout {
	__u32 cpus, stripes;
	__u32 colds_at, hists_at;
	__u32 shared; /* histograms, by several cores */
};

/* Who ran from start_ns up to the start of the next one. */
struct runq_seg {
	__u64 start_ns; /* 0: nothing known */
	__u32 who;	/* slot, or one of RUNQ_WHO_ */
	__u32 pid;
};

/* Who runs without being of a group; keys of the same are in the same order. */
#define RUNQ_WHO_IDLE	 ((__u32)-1)
#define RUNQ_WHO_KTHREAD ((__u32)-2)
#define RUNQ_WHO_QUOTA	 ((__u32)-3)

/* One wait on its way through the segments; private to the programs. */
struct runq_walk {
	__u64 key;
	__u64 pid;
	__u64 from; /* queued here, or the start of the wait with source wakeup */
	__u64 to;
	__u64 held_from; /* throttled inside the wait; equal for not at all */
	__u64 held_to;
	__u64 left; /* up to here nobody was charged yet */
	__u64 moved_ns;
	__u64 cause_ns[RUNQ_NR_CAUSES];
	__u64 culprit_ns;
	__u32 culprit; /* as in segments; 0: nobody */
	__u32 slot;
	__u64 pad[6];
};

/* A run queue's clock against CLOCK_MONOTONIC; private to the programs, but for its start. */
struct runq_clock {
	__s64 off;   /* the second less the first, of a clock just updated */
	__u64 at;    /* when that was, by CLOCK_MONOTONIC */
	__s64 drift; /* what off grows by, in 2^-32 */
	/* The least late look since epoch_at, or the last that was less late than off allows. */
	__s64 low_late, low_off;
	__u64 low_at;
	__u64 epoch_at;
	__u64 looks;
	/* Whence drift is learned. */
	__s64 anchor_off;
	__u64 anchor_at;
	__u64 learned;
	__u64 pad[5];
};

#define RUNQ_CLOCK_UNSET ((__s64)1 << 62) /* as off: more than any distance */

struct runq_cpu {
	/* One cache line for what every switch touches. */
	__u32 skip;	/* CPU not asked for */
	__u32 head;	/* segs[head % RUNQ_NR_SEGS] runs now */
	__u64 switches; /* dispatches that ended a wait, sampled or not */
	__u64 wait_ns;	/* their sum */
	__u64 from;	/* of the last one, as in its walk; private to the programs */
	__u64 to;
	__s64 unbooked_ns; /* of wait_ns, what the kernel does not book as run delay */
	__u64 unknown_start;
	__u64 table_full; /* waits charged to slot 0 */
	/* And one for the rest. */
	__u64 negative;
	__u64 events_lost;
	__u64 blame_full;
	__u64 pad[5];
	struct runq_clock clock;
	struct {
		__u64 key;
		__u64 slot;
	} cache[RUNQ_NR_CACHE];
	struct runq_seg segs[RUNQ_NR_SEGS];
	struct runq_walk walk;
};

_Static_assert(sizeof(struct runq_cpu) % 64 == 0, "cores do not share cache lines");

struct runq_pair {
	__u64 victim;
	__u64 culprit;
};

struct runq_charge {
	__u64 wait_ns;
	__u64 count;
};

enum runq_event_kind {
	RUNQ_EVENT_NEW, /* a slot was taken: time to lay in more */
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
