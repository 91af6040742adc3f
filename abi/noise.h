/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Per-CPU counters of `subtick noise` by source and victim, in an array that user space maps. */
#ifndef SUBTICK_ABI_NOISE_H
#define SUBTICK_ABI_NOISE_H

#include "abi/hist.h"
#include "abi/load.h"

/*
 * Each bucket of noise_cell.hist combines eight buckets of abi/hist.h. In noise_cell.hist, the
 * range between two consecutive powers of two has four buckets. Percentiles are within 25 % of the
 * exact value.
 */
#define NOISE_BUCKET_SHIFT 3
#define NOISE_NR_BUCKETS   (HIST_NR >> NOISE_BUCKET_SHIFT)

/*
 * The upper bits of a stored maximum are its window number (window_seq). Any event of a new window
 * therefore replaces the maximum of an older window, and user space need not reset the maximum.
 */
#define NOISE_WINDOW_SHIFT HIST_VALUE_BITS
#define NOISE_LONGEST_MAX HIST_VALUE_MAX

/*
 * Entry of a hash table: counters of the events of one key. The counters only grow. An entry
 * without events in the current and the previous window may get another key. The counters keep
 * their values, and later growth belongs to the new key.
 */
struct noise_sum {
	__u64 key; /* key of this hash table entry; 0 if the entry is unused */
	__u64 id;
	__u64 count;
	__u64 ns;
	/*
	 * Longest event of a window: window_seq << NOISE_WINDOW_SHIFT | duration in ns. Element 0
	 * is for windows with an even number, element 1 for windows with an odd number.
	 */
	__u64 longest[2];
};

/* Counters of one noise source on one core. */
struct noise_cell {
	struct noise_sum sum;
	char name[32]; /* name of the source; empty if the array index identifies the source */
	__u32 hist[NOISE_NR_BUCKETS];
};

/*
 * Numbers of table entries: powers of two, because the verifier accepts an index after a bitwise
 * AND.
 */
#define NOISE_NR_LINES	 32
#define NOISE_NR_THREADS 64
#define NOISE_NR_VICTIMS 64
#define NOISE_NR_WORKS	 32
/* maximum number of hash table entries that one look-up visits */
#define NOISE_PROBES	 4
#define NOISE_WORK_PROBES 16
#define NOISE_SEND_NAME	 64

/*
 * Table of the machine with the queueing time of each pending work item. The index of a work item
 * is a hash of its address. An element of the table consists of the low bits of CLOCK_MONOTONIC and
 * a tag from the hash. If two pending work items have the same index, the later work item
 * overwrites the element of the earlier, and queued_lost is incremented.
 */
#define NOISE_QUEUED_BITS    12
#define NOISE_NR_QUEUED	     (1 << NOISE_QUEUED_BITS)
/* number of bits of the queueing time in a table element, sufficient for delays up to 9 minutes */
#define NOISE_QUEUED_NS_BITS 40

enum noise_class {
	NOISE_HARDIRQ,
	NOISE_SOFTIRQ,
	NOISE_THREAD,
	NOISE_CLASSES,
};

/* Ids of victims that are not cgroups. Each cgroup id is smaller than the values NOISE_ON_*. */
#define NOISE_ON_IDLE	(~0ULL)
#define NOISE_ON_THREAD (~1ULL)

/*
 * Time that one class of noise took from one cgroup on one core, and the task of the cgroup that
 * was interrupted longest.
 */
struct noise_victim {
	struct noise_sum sum; /* sum.key is the victim: a cgroup id or a value NOISE_ON_* */
	__u32 pid[2];
	char comm[2][16];
};

/*
 * Run time and delay of a workqueue function on one core. `run` sums the intervals in which the
 * function ran without a task switch. run.key is the address of the function.
 */
struct noise_work {
	struct noise_sum run;
	__u64 executions;
	/* name of the function; empty before Linux 5.13, and without CONFIG_KALLSYMS */
	char name[NOISE_SEND_NAME];
	struct noise_cell delay;    /* delay of the work items from queueing to execution */
};

/* Work item that a core executes, in a kernel thread or in a softirq (WQ_BH, since Linux 6.9). */
struct noise_executing {
	__u64 function; /* address of the workqueue function; 0 if the core executes no work item */
	/* work_clock() at the start of the work item or at the last dispatch of the worker */
	__u64 since_ns;
};

/* Running kernel thread, and the task that the thread preempted. */
struct noise_now {
	__u64 since_ns; /* total task time of the core when the thread was dispatched */
	__u64 thread;	/* pid of the thread; 0 if no kernel thread runs */
	__u64 victim;	/* cgroup of the preempted task; 0 if there is none */
	__u32 pid;	/* pid of the task that the kernel thread preempted */
	__u32 pad;
	char comm[16];
	char thread_comm[16];
};

/*
 * Noise counters of one core. Hardirqs, softirqs and threads have separate counters with one writer
 * each, because hardirq programs can interrupt softirq programs.
 */
struct noise_cpu {
	struct noise_now now;
	/* running work items: element 0 is executed by a thread, element 1 in a softirq */
	struct noise_executing executing[2];
	/*
	 * time at which the softirq vector was first raised since it last ran; 0 if the vector is
	 * not raised
	 */
	__u64 raised_ns[LOAD_NR_VECS];
	__u64 raise_unseen; /* number of softirqs that ran without a recorded raise */
	/* number of queueing times that a later work item overwrote */
	__u64 queued_lost;
	/* number of executed work items whose function did not fit into works[] */
	__u64 works_lost;
	struct {
		/*
		 * number of events that were not counted, because the table of noise sources was
		 * full
		 */
		__u64 lost;
		__u64 lost_ns;
		__u64 victims_lost; /* number of events whose victim did not fit into victims[] */
		__u64 pad;
		struct noise_victim victims[NOISE_NR_VICTIMS];
	} of[NOISE_CLASSES];
	/* interrupts without an interrupt number, by kind (enum load_line_kind) */
	struct noise_cell kinds[LOAD_LINE_KINDS];
	/* NMIs; NMI time also counts for the interrupted context */
	struct noise_cell nmi;
	struct noise_cell vecs[LOAD_NR_VECS]; /* softirqs that ran outside of ksoftirqd */
	/* device interrupts; key: address of the interrupt's name, id: interrupt number */
	struct noise_cell lines[NOISE_NR_LINES];
	struct noise_cell threads[NOISE_NR_THREADS]; /* kernel threads; key: pid */
	/* delay of softirqs from raise to execution, also in ksoftirqd */
	struct noise_cell delays[LOAD_NR_VECS];
	struct noise_work works[NOISE_NR_WORKS];
};

/* number of table entries per enum noise_send_program; a power of two */
#define NOISE_NR_SENDS	 64
#define NOISE_SEND_WORDS 16 /* number of 64-bit words of a CPU mask, for at most 1,024 CPUs */

/*
 * Programs that count IPIs and cross-CPU function calls on the sending core. Each program has its
 * own table of struct noise_send.
 */
enum noise_send_program {
	NOISE_SEND_RAISE,
	NOISE_SEND_CPU,
	NOISE_SEND_MASK,
	NOISE_SEND_CALL, /* function calls sent to another core */
	NOISE_SEND_PROGRAMS,
};

/*
 * Table entry that counts IPIs of one kind, or calls of one function, from one core to another
 * core. The key of an entry is the `name` of struct load_line_key, or the address of the function.
 * The id of an entry is the number of the receiving core.
 */
struct noise_send {
	struct noise_sum sum;
	/*
	 * Boyer-Moore majority vote on the sending process; one element for even windows, one for
	 * odd. `tgid` is the process that sent more than half of the IPIs, if there is such a
	 * process.
	 */
	struct {
		__u64 window_seq; /* number of the window << NOISE_WINDOW_SHIFT */
		__u64 votes;
		/* process ID of the sender, 0 for the idle task, or NOISE_BY_INTERRUPT */
		__u32 tgid;
		__u32 pad;
		char comm[16];
	} by[2];
	/* name of the IPI or function; empty if sum.key is an enum load_line_kind */
	char name[NOISE_SEND_NAME];
};

#define NOISE_BY_INTERRUPT (~0U) /* value of tgid if an interrupt or a softirq sent the IPI */

/* IPIs and function calls of one sending core. */
struct noise_sends {
	struct {
		__u64 lost; /* number of IPIs and calls that did not fit into the table */
		struct noise_send sends[NOISE_NR_SENDS];
	} of[NOISE_SEND_PROGRAMS];
};

#endif
