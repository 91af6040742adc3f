/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The per-CPU data of bpf/load*.bpf.*, which lib/measure/load/bpf.c reads from the mapped array. */
#ifndef SUBTICK_ABI_LOAD_H
#define SUBTICK_ABI_LOAD_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "abi/wake.h"

#define LOAD_NR_VECS   10 /* NR_SOFTIRQS of every kernel so far; others count as odd edges */
#define LOAD_NR_PAUSED 4
#define LOAD_NEVER     (1ULL << 62) /* start_ns before the start: every event comes before it */

/* The context of a core below its hardirqs. The order matters to these two halves only. */
enum load_ctx {
	LOAD_HALT,
	LOAD_TAIL, /* idle, after an interrupt: halted again, or about to leave idle */
	LOAD_POLL,
	LOAD_LOOP, /* the idle task, not halted */
	LOAD_TASK,
	LOAD_KSOFTIRQD, /* and threaded NAPI */
	LOAD_SOFTIRQ_IDLE,
	LOAD_SOFTIRQ_TASK,
	LOAD_NR_CTX, /* a power of two, so that a mask proves the bound to the verifier */
	LOAD_UNKNOWN = LOAD_NR_CTX, /* `base` == 0: no event since the start */
};

/*
 * Two partitions of the time since start_ns, each kept by its own kind of programs. Programs of
 * hardirqs can interrupt the others; no program can interrupt its own kind:
 *   base: which context below hardirqs; sum(base_ns) == base >> 8
 *   hirq: inside a hardirq or not;      sum(hirq_ns) + hirq_out_ns == hirq >> 8
 * The low byte of `base` is the open context, that of `hirq` the nesting depth; the rest is the
 * stamp, ns since start. The two equations hold exactly unless an update is in progress, so a
 * reader on another core checks them instead of a sequence count. The writer needs no barrier and
 * no atomic operation, under any memory model.
 */
struct load_slot {
	/* What every event looks at, in one cache line. */
	__u64 base;
	__u64 hirq;
	/*
	 * Context + 1 while a program moves `base` to that context. An interrupt and the softirqs
	 * after it can interrupt the programs of softirqs and, on kernels whose idle function
	 * returns with interrupts on (5.10 and 6.1; no longer 6.12), that of the idle exit. If they
	 * moved `base` as well, the equation would never hold again. So they leave `base` alone, and
	 * their time counts for the new context.
	 */
	__u64 moving;
	__u32 vec;	 /* of the running softirq + 1; 0 outside softirqs, as in LOAD_TASK */
	__u16 under;	 /* interrupted context, if it is an idle context */
	__u16 nr_paused; /* used entries of paused[] */
	__u64 hirq_out_ns;
	__u64 hirq_in_ns;  /* sum of hirq_ns, so that softirq programs need not compute it */
	__u64 start_ns;	   /* CLOCK_MONOTONIC; LOAD_NEVER until all programs are attached */
	__u64 poll_states; /* bit n: idle state n of this CPU polls; set before the start */

	__u64 base_ns[LOAD_NR_CTX]; /* closed intervals, including hardirqs on top */
	__u64 hirq_ns[LOAD_NR_CTX]; /* closed hardirqs by the context under them */

	/*
	 * Counter sample of source bpf-pmu; torn unless pmu_check == ~(pmu_cycles ^ pmu_ns), which
	 * is never 0. Before the first it is 0.
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
	__u64 vec_start; /* of the running softirq, less hirq_in_ns at that time */
	__u64 burst_start; /* ns since start, 0 while idle */

	__u64 vec_ns[LOAD_NR_VECS]; /* closed softirq runs, without hardirqs on top */
	__u64 vec_count[LOAD_NR_VECS];
	struct wake_idle wake; /* with LOAD_FILLED_WAKE */
};

_Static_assert(sizeof(struct load_slot) == 512, "whole cache lines");

/*
 * --cores: busy time of a CPU, and the part of it in which its hyperthread sibling was busy as well.
 * A word is 2 × its time while the CPU is idle, and 2 × (time − value of its clock) + 1 while it is
 * busy. The clock of `busy` is ns since start, the clock of `both` is the busy time of the sibling.
 * So each word is valid at any later moment, and a reader on another CPU needs one load per word.
 * Before the first edge both words are 0, and the CPU is in the state `seed`.
 */
struct load_smt {
	__u64 busy;
	__u64 both;
	__u64 seed; /* 1: busy at the start */
	/* The two words before the last idle edge, in case the CPU did not halt. */
	__u64 was_busy;
	__u64 was_both;
	__u32 sibling; /* CPU number, the own one without a sibling; set before the start */
	__u32 moving;  /* a program changes the words: interrupts leave them alone */
	__u64 pad[2];
};

_Static_assert(sizeof(struct load_smt) == 64, "a cache line");

/*
 * --irq: hardirq time by line. `name` is a kind of enum load_line_kind, or the address of the
 * kernel's string: the name of a device's handler, or what an IPI is for.
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
	__u32 irq; /* of a device; else 0 */
	__u32 cpu;
};

struct load_line_sum {
	__u64 ns;
	__u64 count;
	char name[32]; /* empty for a kind */
};

/* --tasks: the task time of a core by task, since the reader emptied the map. */
struct load_task_key {
	__u32 pid;
	__u32 cpu;
};

struct load_task_sum {
	__u64 ns;
	__u64 count;
	__u32 tgid;
	__u32 sleeps; /* times that it left the core blocked or dead */
	__u32 parent; /* tgid of its parent */
	__u32 pad;
	/* Id of its cgroup when it first left the core, as of noise; 0 without noise. */
	__u64 cgroup;
	char comm[16];
};

/* Who runs on a core, and how much task time the core had when it began. */
struct load_task_now {
	__u64 since_ns;
	__u64 ids; /* tgid << 32 | pid; 0: idle, or no switch yet */
	__u64 lost_ns;
	char comm[16];
	__u64 pad[3]; /* a cache line for each core */
};

_Static_assert(sizeof(struct load_task_now) == 64, "a cache line");

/* Written rarely, so kept apart from the slots, which every context change writes. */
struct load_cpu_note {
	__u64 hotplug_steps;
	__u64 seed_ctx; /* context + 1 of the task there when the tasks were walked; 0: none */
};

#endif
