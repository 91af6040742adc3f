/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Counters of bpf/load_noise.bpf.h on each core by source and victim, in a mapped array. */
#ifndef SUBTICK_ABI_NOISE_H
#define SUBTICK_ABI_NOISE_H

#include "abi/hist.h"
#include "abi/load.h"

/*
 * Every eight buckets of abi/hist.h are one: four per power of two, so that a percentile is at most
 * 25 % above or below the exact value.
 */
#define NOISE_BUCKET_SHIFT 3
#define NOISE_NR_BUCKETS   (HIST_NR >> NOISE_BUCKET_SHIFT)

/*
 * The maximum of a window has the window's number, the turn, above its bits. So the first event of
 * a window is larger than all earlier ones, without a reset.
 */
#define NOISE_TURN_SHIFT  HIST_VALUE_BITS
#define NOISE_LONGEST_MAX HIST_VALUE_MAX

/*
 * An entry of a small table with a key. Sums only grow. An entry without an event in this window
 * and the previous one may get another key; later growth belongs to the new key.
 */
struct noise_sum {
	__u64 key; /* 0: not used yet */
	__u64 id;
	__u64 count;
	__u64 ns;
	__u64 longest[2]; /* turn << NOISE_TURN_SHIFT | ns, for even and odd turns */
};

/* One source on one core. */
struct noise_cell {
	struct noise_sum sum;
	char name[32]; /* empty where the index in the array identifies the source */
	__u32 hist[NOISE_NR_BUCKETS];
};

/* Powers of two, so that a mask proves the bound to the verifier. */
#define NOISE_NR_LINES	 32
#define NOISE_NR_THREADS 64
#define NOISE_NR_VICTIMS 64
#define NOISE_NR_WORKS	 32
#define NOISE_PROBES	 4 /* entries tried for a key, starting at its hash */
#define NOISE_WORK_PROBES 16
#define NOISE_SEND_NAME	 64

/*
 * Time of queueing of each work that waits: NOISE_NR_QUEUED words for the machine, found by a hash of the
 * work's address. A word has the low bits of CLOCK_MONOTONIC, and above them more bits of the hash. A later
 * work with the same place overwrites it, which is counted; the earlier one then has no delay.
 */
#define NOISE_QUEUED_BITS    12
#define NOISE_NR_QUEUED	     (1 << NOISE_QUEUED_BITS)
#define NOISE_QUEUED_NS_BITS 40 /* delays up to 9 minutes */

/* Classes of sources. */
enum noise_class {
	NOISE_HARDIRQ,
	NOISE_SOFTIRQ,
	NOISE_THREAD,
	NOISE_CLASSES,
};

/* Victims that are no cgroup; the ids of cgroups are far below. */
#define NOISE_ON_IDLE	(~0ULL)
#define NOISE_ON_THREAD (~1ULL)

/* A cgroup that a class hit on one core, and its task with the longest single hit. */
struct noise_victim {
	struct noise_sum sum; /* key: cgroup id, or one of the above */
	__u32 pid[2];
	char comm[2][16];
};

/*
 * A function that workers of workqueues ran on one core. `run` changes when an execution begins and when
 * a stretch of it on the core ends; its key is the function's address, its count is no figure.
 */
struct noise_work {
	struct noise_sum run;
	__u64 executions;
	char name[NOISE_SEND_NAME]; /* empty before Linux 5.13, and without CONFIG_KALLSYMS */
	struct noise_cell delay;    /* queueing to execution */
};

/* The work that a core executes in a kernel thread, or in a softirq (WQ_BH, since Linux 6.9). */
struct noise_executing {
	__u64 function; /* 0: none */
	__u64 since_ns; /* in a thread: task time of the core when this stretch began */
};

/* The kernel thread that runs, and the task that it preempted. */
struct noise_now {
	__u64 since_ns; /* task time of the core when it came */
	__u64 thread;	/* its pid; 0: none runs */
	__u64 victim;	/* cgroup of the preempted task; 0: it preempted none */
	__u32 pid;	/* that task */
	__u32 pad;
	char comm[16];
	char thread_comm[16];
};

/* Hardirq programs interrupt softirq programs. Each class has its own part, with one writer. */
struct noise_cpu {
	struct noise_now now;
	struct noise_executing executing[2];   /* in a thread, in a softirq */
	__u64 raised_ns[LOAD_NR_VECS];	       /* first raise since the vector ran; 0: none */
	__u64 raise_unseen;		       /* softirqs without it */
	__u64 queued_lost;		       /* times of queueing that another one overwrote */
	__u64 works_lost;		       /* executions whose function found no room */
	struct {
		__u64 lost; /* events whose source found no room, and their time */
		__u64 lost_ns;
		__u64 victims_lost; /* events whose victim found no room */
		__u64 pad;
		struct noise_victim victims[NOISE_NR_VICTIMS];
	} of[NOISE_CLASSES];
	struct noise_cell kinds[LOAD_LINE_KINDS];    /* of enum load_line_kind */
	struct noise_cell nmi;			     /* its time is also in what it interrupted */
	struct noise_cell vecs[LOAD_NR_VECS];	     /* softirqs, but for those in ksoftirqd */
	struct noise_cell lines[NOISE_NR_LINES];     /* key: address of the name; id: number */
	struct noise_cell threads[NOISE_NR_THREADS]; /* key: pid */
	struct noise_cell delays[LOAD_NR_VECS];	     /* softirqs: raise to run, also in ksoftirqd */
	struct noise_work works[NOISE_NR_WORKS];
};

#define NOISE_NR_SENDS	 64 /* a power of two */
#define NOISE_SEND_WORDS 16 /* of a mask of cores: at most 1024 cores */

/* The programs that count what a core sends; each has its table. */
enum noise_send_program {
	NOISE_SEND_RAISE,
	NOISE_SEND_CPU,
	NOISE_SEND_MASK,
	NOISE_SEND_CALL, /* not IPIs, but functions that another core shall run */
	NOISE_SEND_PROGRAMS,
};

/*
 * IPIs of one kind, or calls of one function, from one core to another; no times. The key is what
 * for, as in struct load_line_key, or the function's address; the id is the core that gets it.
 */
struct noise_send {
	struct noise_sum sum;
	/*
	 * The process that sent most of them, if it sent more than half (majority vote, by Boyer and Moore):
	 * it sent at least `votes`. For even and odd turns.
	 */
	struct {
		__u64 turn; /* << NOISE_TURN_SHIFT */
		__u64 votes;
		__u32 tgid; /* 0: the idle task; NOISE_BY_INTERRUPT */
		__u32 pad;
		char comm[16];
	} by[2];
	char name[NOISE_SEND_NAME]; /* empty if the key is one of enum load_line_kind */
};

#define NOISE_BY_INTERRUPT (~0U) /* sent by an interrupt or a softirq */

/* IPIs and calls of one sending core. */
struct noise_sends {
	struct {
		__u64 lost; /* that found no room */
		struct noise_send sends[NOISE_NR_SENDS];
	} of[NOISE_SEND_PROGRAMS];
};

#endif
