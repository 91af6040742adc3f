/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Per-core memory of the BPF programs of the commands load, wake and runq, and constants that user
 * space patches into these programs.
 */
#ifndef SUBTICK_ABI_CORE_H
#define SUBTICK_ABI_CORE_H

#include "abi/load.h"
#include "abi/runq.h"

#define CORE_BLOCK_SIZE 4096
#define CORE_MAX_CPUS	8192

/*
 * Data of one core for all BPF programs, in one block, so that a program computes only one address
 * per event.
 */
struct core_block {
	struct load_slot load;
	struct runq_cpu runq;
	struct wake_counts wake;
	/* interrupt line of the running hardirq handler, for --irq and noise; line.cpu is unused */
	struct load_line_key line;
	__u64 pad[110];
	/*
	 * used with LOAD_FILLED_CORES; in a separate cache line, because the hyperthread sibling
	 * reads this member
	 */
	struct load_smt smt;
};

_Static_assert(sizeof(struct core_block) == CORE_BLOCK_SIZE, "a shift yields the address of a block");

/*
 * Immediate operands of BPF instructions, set by sys_bpf_open_filled(). An operand that is a flag
 * is 0 or 1.
 */
enum core_filled {
	CORE_FILLED_FIRST = 0x5ab71d00,
	/* number of struct core_block (a power of two) minus 1 */
	CORE_FILLED_CPU_MASK = CORE_FILLED_FIRST,
	CORE_FILLED_LOAD, /* flag: one program on sched_switch measures both runq and load */
	LOAD_FILLED_WAKE,  /* count passive wake-ups */
	LOAD_FILLED_STATES, /* source passive: number of struct wake_hist per CPU */
	/* flag: the machine has no cpuidle driver, so each CPU has only one struct wake_hist */
	LOAD_FILLED_ONE_STATE,
	LOAD_FILLED_TASKS, /* flag: sum the task time of each core by task */
	LOAD_FILLED_NOISE, /* measure noise */
	LOAD_FILLED_BURSTS,
	LOAD_FILLED_PMU, /* the source is bpf-pmu */
	LOAD_FILLED_CORES, /* measure the time in which both hyperthreads of a core are busy */
	/* flag: LOAD_FILLED_BURSTS, LOAD_FILLED_PMU or LOAD_FILLED_CORES is set */
	LOAD_FILLED_NOTES,
	RUNQ_FILLED_OLD,   /* flag: the kernel lacks struct fields that the fast path reads */
	RUNQ_FILLED_V2,	      /* use cgroup v2 */
	/* flag: the kernel subtracts interrupt or steal time from se.exec_start */
	RUNQ_FILLED_RQ_CLOCK,
	RUNQ_FILLED_SHARED,   /* flag: several cores share a histogram */
	/* flag: slots of groups contain struct runq_steps, not struct runq_hist */
	RUNQ_FILLED_STEPS,
	RUNQ_FILLED_BLAME,
	RUNQ_FILLED_SOME, /* value of enum runq_some: selects the waits that runq counts */
	/* value of enum runq_gate: selects the variant of the program runq_some */
	RUNQ_FILLED_GATE,
	/* RUNQ_LEARN; at low sampling ratios, fewer bits (more switches) or 0 (every switch) */
	RUNQ_FILLED_LEARN,
	CORE_FILLED_END,
};

/* Selects the waits that are counted. */
enum runq_some {
	RUNQ_SOME_ALL,
	/* count the waits of all groups that no filter excludes (RUNQ_SLOT_UNWANTED) */
	RUNQ_SOME_FILTER,
	RUNQ_SOME_SAMPLE,
};

/*
 * Variants of the BPF program runq_some. The variants *_OLD are for kernels that lack struct fields
 * which quick_runnable() reads.
 */
enum runq_gate {
	RUNQ_GATE_SAMPLE,
	RUNQ_GATE_FILTER,
	RUNQ_GATE_SAMPLE_OLD,
	RUNQ_GATE_FILTER_OLD,
	/* added to the number of a variant that also measures load */
	RUNQ_GATE_LOAD,
};

#define CORE_NR_FILLED (CORE_FILLED_END - CORE_FILLED_FIRST)

#endif
