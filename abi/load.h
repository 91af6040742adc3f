/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Per-CPU data of the load programs, which user space maps and reads. */
#ifndef SUBTICK_ABI_LOAD_H
#define SUBTICK_ABI_LOAD_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "abi/wake.h"

#define LOAD_NR_VECS   10 /* NR_SOFTIRQS; higher vectors count as odd edges */
#define LOAD_NR_PAUSED 4
#define LOAD_NEVER     (1ULL << 62) /* value of start_ns before the measurement starts */

/* Context of a core below its hardirqs. */
enum load_ctx {
	LOAD_HALT,
	LOAD_TAIL, /* idle after an interrupt: halted again, or about to leave idle */
	LOAD_POLL,
	LOAD_LOOP, /* idle task, not halted */
	LOAD_TASK,
	LOAD_KSOFTIRQD, /* ksoftirqd and threaded NAPI */
	LOAD_SOFTIRQ_IDLE,
	LOAD_SOFTIRQ_TASK,
	LOAD_NR_CTX, /* a power of two, so that a mask proves the bound to the verifier */
	LOAD_UNKNOWN = LOAD_NR_CTX, /* no event since the start: base is 0 */
};

/*
 * Two partitions of the time since start_ns:
 *   base: context below hardirqs;      sum(base_ns) == base >> 8
 *   hirq: inside or outside hardirqs;  sum(hirq_ns) + hirq_out_ns == hirq >> 8
 * The low byte of `base` is the open context, the low byte of `hirq` is the nesting depth. The other bits are the
 * timestamp of the last change, in ns since the start. Each partition has one writer at a time: hardirq programs can
 * interrupt other programs, but not each other. Both equations hold unless an update is in progress. A reader on another
 * core checks them instead of a sequence count, so the writer needs neither barriers nor atomic operations.
 */
struct load_slot {
	/* One cache line with the fields of every event. */
	__u64 base;
	__u64 hirq;
	/*
	 * Context + 1 while a program moves `base` to that context, else 0. Interrupts and their softirqs can
	 * interrupt the programs of softirqs, and on 5.10 and 6.1 the program of the idle exit. They must not change
	 * `base` meanwhile. Their time counts for the new context.
	 */
	__u64 moving;
	__u32 vec;	 /* vector of the running softirq + 1; 0 outside softirqs */
	__u16 under;	 /* interrupted context, if it is an idle context */
	__u16 nr_paused; /* used entries of paused[] */
	__u64 hirq_out_ns;
	__u64 hirq_in_ns;  /* sum of hirq_ns, precomputed for the softirq programs */
	__u64 start_ns;	   /* CLOCK_MONOTONIC; LOAD_NEVER until all programs are attached */
	__u64 poll_states; /* bit mask of the idle states that poll; set before the start */

	__u64 base_ns[LOAD_NR_CTX]; /* closed intervals, including hardirqs on top */
	__u64 hirq_ns[LOAD_NR_CTX]; /* closed hardirqs by the context under them */

	/*
	 * Counter sample of source bpf-pmu. A read is torn unless pmu_check == ~(pmu_cycles ^ pmu_ns). pmu_check is 0
	 * before the first sample.
	 */
	__u64 pmu_cycles;
	__u64 pmu_ns;
	__u64 pmu_check;
	__u64 pmu_errors;

	__u64 odd_edges;   /* exits without their entry, or impossible contexts */
	__u64 paused_lost; /* PREEMPT_RT: preempted softirqs that did not fit into paused[] */
	struct {
		__u32 pid;
		__u32 vec;
	} paused[LOAD_NR_PAUSED];
	__u64 vec_start; /* start of the running softirq, minus hirq_in_ns at that time */
	__u64 burst_start; /* ns since start, 0 while idle */

	__u64 vec_ns[LOAD_NR_VECS]; /* closed softirq runs, without hardirqs on top */
	__u64 vec_count[LOAD_NR_VECS];
	struct wake_idle wake; /* with LOAD_FILLED_WAKE */
};

_Static_assert(sizeof(struct load_slot) == 512, "whole cache lines");

/*
 * --cores: `busy` is the busy time of a CPU, `both` is the part in which the hyperthread sibling was busy. While the CPU
 * is idle, a word is 2 × time. While the CPU is busy, a word is 2 × (time − clock) + 1. The clock of `busy` is ns since
 * the start, the clock of `both` is the busy time of the sibling. So a word needs no update until the state changes, and
 * a reader needs one load per word. Before the first change both words are 0, and `seed` is the state.
 */
struct load_smt {
	__u64 busy;
	__u64 both;
	__u64 seed; /* 1: busy at the start */
	/* Both words before the last change to idle, which is undone if the CPU did not halt. */
	__u64 was_busy;
	__u64 was_both;
	__u32 sibling; /* CPU number of the sibling, or of this CPU if there is none; set before the start */
	__u32 moving;  /* nonzero while a program changes the words, which interrupts must not do */
	__u64 pad[2];
};

_Static_assert(sizeof(struct load_smt) == 64, "a cache line");

/*
 * --irq: hardirq time by line. `name` is an enum load_line_kind, or the address of a kernel string: the name of a
 * device's handler, or the reason of an IPI.
 */
enum load_line_kind {
	LOAD_LINE_UNKNOWN,
	LOAD_LINE_LOCAL_TIMER,
	LOAD_LINE_RESCHEDULE,
	LOAD_LINE_CALL_FUNCTION,
	LOAD_LINE_CALL_FUNCTION_SINGLE,
	LOAD_LINE_IRQ_WORK,
	LOAD_LINE_PLATFORM_IPI,
	LOAD_LINE_THERMAL,
	LOAD_LINE_THRESHOLD,
	LOAD_LINE_DEFERRED_ERROR,
	LOAD_LINE_ERROR,
	LOAD_LINE_SPURIOUS,
	LOAD_LINE_KINDS,
};

struct load_line_key {
	__u64 name;
	__u32 irq; /* interrupt number of a device; else 0 */
	__u32 cpu;
};

struct load_line_sum {
	__u64 ns;
	__u64 count;
	char name[32]; /* empty for an enum load_line_kind */
};

/* --tasks: task time of a core by task, since user space emptied the map. */
struct load_task_key {
	__u32 pid;
	__u32 cpu;
};

struct load_task_sum {
	__u64 ns;
	__u64 count;
	__u32 tgid;
	__u32 sleeps; /* switches at which the task blocked or exited */
	__u32 parent; /* tgid of the parent */
	__u32 pad;
	/* Id of the task's cgroup at its first switch; 0 unless noise is measured. */
	__u64 cgroup;
	char comm[16];
};

/* Running task of a core, and the task time of the core when it was dispatched. */
struct load_task_now {
	__u64 since_ns;
	__u64 ids; /* tgid << 32 | pid; 0 if idle or before the first switch */
	__u64 lost_ns;
	char comm[16];
	__u64 pad[3]; /* a cache line for each core */
};

_Static_assert(sizeof(struct load_task_now) == 64, "a cache line");

/* Rarely written fields, in other cache lines than the slots. */
struct load_cpu_note {
	__u64 hotplug_steps;
	__u64 seed_ctx; /* context + 1 of the running task at the start; 0 if the core was idle */
};

#endif
