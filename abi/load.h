/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Per-CPU data of the BPF programs of `subtick load`, which user space maps and reads. */
#ifndef SUBTICK_ABI_LOAD_H
#define SUBTICK_ABI_LOAD_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "abi/wake.h"

/* number of softirq vectors (NR_SOFTIRQS); vec_ns and vec_count omit higher vectors */
#define LOAD_NR_VECS   10
#define LOAD_NR_PAUSED 4
#define LOAD_NEVER     (1ULL << 62) /* value of load_slot.start_ns before the measurement starts */

/* Context: the kind of code that a core executes, apart from hardirqs. */
enum load_ctx {
	LOAD_HALT,
	/* idle task after an interrupt: the core halts again, or is about to leave the idle loop */
	LOAD_TAIL,
	LOAD_POLL,
	LOAD_LOOP, /* the idle task executes code; the core is not halted */
	LOAD_TASK,
	LOAD_KSOFTIRQD, /* ksoftirqd and threaded NAPI */
	LOAD_SOFTIRQ_IDLE,
	LOAD_SOFTIRQ_TASK,
	/* number of contexts; a power of two, because the verifier accepts masked indexes */
	LOAD_NR_CTX,
	/* context of a core before its first event in the measurement, while load_slot.base is 0 */
	LOAD_UNKNOWN = LOAD_NR_CTX,
};

/*
 * `base` and `hirq` are words that count the time since start_ns, with one equation each:
 *   base counts by context (enum load_ctx), including hardirqs:  sum(base_ns) == base >> 8
 *   hirq counts inside and outside of hardirqs:  sum(hirq_ns) + hirq_out_ns == hirq >> 8
 * The low byte of `base` is the current context. The low byte of `hirq` is the number of nested
 * hardirqs. The upper 56 bits of `base` and `hirq` are the time of the last change, in ns since
 * start_ns. `base` and `hirq` have one writer at a time: hardirq programs can interrupt other
 * programs, but not each other. The equations of `base` and `hirq` hold unless an update is in
 * progress. A reader on another core repeats its read of the slot until both equations hold, so the
 * writer needs no barriers, atomic operations or sequence count.
 */
struct load_slot {
	/* first cache line: fields that every event uses */
	__u64 base;
	__u64 hirq;
	/*
	 * New context + 1 while a program changes `base` to the new context, else 0. Interrupts can
	 * interrupt the programs on softirq events, and on Linux 5.10 and 6.1 the program on idle
	 * exit. Programs on interrupts do not change `base` while `moving` is set. The time of an
	 * interrupt while `moving` is set is added to the new context.
	 */
	__u64 moving;
	__u32 vec;	 /* vector of the running softirq + 1; 0 outside softirqs */
	/* context that the softirq interrupted; not set if the softirq interrupted a task */
	__u16 under;
	__u16 nr_paused; /* number of used entries of paused[] */
	__u64 hirq_out_ns;
	__u64 hirq_in_ns; /* sum of the elements of hirq_ns, used by the softirq programs */
	/* start of the measurement, CLOCK_MONOTONIC; LOAD_NEVER until all programs are attached */
	__u64 start_ns;
	__u64 poll_states; /* bit mask of the idle states that poll; set before the start */

	/* time by context until the last change of `base`, including hardirq time */
	__u64 base_ns[LOAD_NR_CTX];
	__u64 hirq_ns[LOAD_NR_CTX]; /* time of completed hardirqs, by interrupted context */

	/*
	 * Sample of the hardware counter of source bpf-pmu. A read of the sample is consistent if
	 * pmu_check == ~(pmu_cycles ^ pmu_ns). pmu_check is 0 before the first sample.
	 */
	__u64 pmu_cycles;
	__u64 pmu_ns;
	__u64 pmu_check;
	__u64 pmu_errors;

	/*
	 * number of events that contradict the recorded context, such as an exit without an entry
	 */
	__u64 odd_edges;
	/* PREEMPT_RT: number of preempted softirqs that did not fit into paused[] */
	__u64 paused_lost;
	struct {
		__u32 pid;
		__u32 vec;
	} paused[LOAD_NR_PAUSED];
	/*
	 * start of the running softirq minus hirq_in_ns at the start, so that vec_end() can exclude
	 * hardirqs
	 */
	__u64 vec_start;
	/* start of the current busy period in ns since the start; 0 while idle */
	__u64 burst_start;

	/*
	 * time of completed softirqs by softirq vector, without hardirqs that interrupted the
	 * softirqs
	 */
	__u64 vec_ns[LOAD_NR_VECS];
	__u64 vec_count[LOAD_NR_VECS];
	struct wake_idle wake; /* data of passive wake-ups, used with LOAD_FILLED_WAKE */
};

_Static_assert(sizeof(struct load_slot) == 512, "whole cache lines");

/*
 * For --cores: `busy` encodes the busy time of a CPU. `both` encodes the time in which the CPU and
 * its hyperthread sibling are both busy. An idle CPU stores 2 * time. A busy CPU stores 1 + 2 *
 * (time - clock), so the time grows with the clock without updates. The clock of `busy` is ns since
 * the start. The clock of `both` is the busy time of the sibling. A program updates `busy` and
 * `both` only when the CPU becomes busy or idle. A reader loads each word once. Before the first
 * update `busy` and `both` are 0, and `seed` is 1 if the CPU is busy.
 */
struct load_smt {
	__u64 busy;
	__u64 both;
	__u64 seed; /* 1 if the CPU was busy at the start of the measurement */
	/*
	 * Values of `busy` and `both` before the last idle entry. If the CPU did not halt after the
	 * idle entry, a program restores `busy` and `both` to was_busy and was_both.
	 */
	__u64 was_busy;
	__u64 was_both;
	/*
	 * CPU number of the hyperthread sibling, or the CPU's own number if there is no sibling;
	 * set before the start
	 */
	__u32 sibling;
	/*
	 * 1 while smt_edge() or smt_awake() changes `busy` and `both`; smt_edge() of an interrupt
	 * then changes nothing
	 */
	__u32 moving;
	__u64 pad[2];
};

_Static_assert(sizeof(struct load_smt) == 64, "a cache line");

/*
 * Key of a map that sums the hardirq time by interrupt line, for --irq. `name` is an enum
 * load_line_kind or the address of a kernel string. The string is the name of a device's handler or
 * the reason of an IPI.
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
	__u32 irq; /* interrupt number of a device interrupt; 0 for any other interrupt */
	__u32 cpu;
};

struct load_line_sum {
	__u64 ns;
	__u64 count;
	/* name of the interrupt line; empty if load_line_key.name is an enum load_line_kind */
	char name[32];
};

/* Key of the run time of a task on a core since user space last cleared the map, for --tasks. */
struct load_task_key {
	__u32 pid;
	__u32 cpu;
};

struct load_task_sum {
	__u64 ns;
	__u64 count;
	__u32 tgid;
	__u32 sleeps; /* number of context switches at which the task blocked or exited */
	__u32 parent; /* process id of the parent process */
	__u32 pad;
	/* Id of the task's cgroup at its first switch; 0 unless noise is measured. */
	__u64 cgroup;
	char comm[16];
};

/* Running task of a core, and the task time of the core when this task was dispatched. */
struct load_task_now {
	__u64 since_ns;
	/* tgid << 32 | pid of the running task; 0 if the task is the idle task or unknown */
	__u64 ids;
	__u64 lost_ns;
	char comm[16];
	__u64 pad[3]; /* pads the struct to one cache line per core */
};

_Static_assert(sizeof(struct load_task_now) == 64, "a cache line");

/* Fields of a core that programs rarely write, outside of the cache lines of struct load_slot. */
struct load_cpu_note {
	__u64 hotplug_steps;
	/*
	 * 1 + the context (enum load_ctx) of the task that ran at the start of the measurement; 0
	 * if the core was idle
	 */
	__u64 seed_ctx;
};

#endif
