/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Per-core memory of the BPF programs of load, wake and runq, and constants that user space patches
 * into these programs.
 */
#ifndef SUBTICK_ABI_CORE_H
#define SUBTICK_ABI_CORE_H

#include "abi/load.h"
#include "abi/runq.h"

#define CORE_BLOCK_SIZE 4096
#define CORE_MAX_CPUS	8192

/* All data of a core is in one block, so that a program computes one address per event. */
struct core_block {
	struct load_slot load;
	struct runq_cpu runq;
	struct wake_counts wake;
	/* interrupt line of the running handler, for --irq and noise; its member cpu is unused */
	struct load_line_key line;
	__u64 pad[110];
	/*
	 * used with LOAD_FILLED_CORES; separate cache lines, because the hyperthread sibling reads
	 * smt
	 */
	struct load_smt smt;
};

_Static_assert(sizeof(struct core_block) == CORE_BLOCK_SIZE, "a shift yields the address of a block");

/*
 * Immediate operands that sys_bpf_open_filled() sets in the programs. Operands that are flags are 0
 * or 1.
 */
enum core_filled {
	CORE_FILLED_FIRST = 0x5ab71d00,
	CORE_FILLED_CPU_MASK = CORE_FILLED_FIRST, /* number of blocks, a power of two, minus 1 */
	CORE_FILLED_LOAD, /* the program of runq on sched_switch also counts for load */
	LOAD_FILLED_WAKE,  /* count passive wake-ups */
	LOAD_FILLED_STATES, /* number of wake-up histograms per CPU */
	LOAD_FILLED_ONE_STATE, /* no cpuidle driver: one histogram per CPU */
	LOAD_FILLED_TASKS, /* count task time by task */
	LOAD_FILLED_NOISE, /* measure noise */
	LOAD_FILLED_BURSTS,
	LOAD_FILLED_PMU, /* source bpf-pmu */
	LOAD_FILLED_CORES, /* measure the time in which both hyperthreads of a core are busy */
	LOAD_FILLED_NOTES, /* 1 if LOAD_FILLED_BURSTS, LOAD_FILLED_PMU or LOAD_FILLED_CORES is 1 */
	RUNQ_FILLED_V2,	      /* use the unified hierarchy of cgroups */
	RUNQ_FILLED_RQ_CLOCK, /* se.exec_start differs from the run queue's clock */
	RUNQ_FILLED_SHARED,   /* several cores share a histogram */
	RUNQ_FILLED_STEPS,    /* slots have struct runq_steps */
	RUNQ_FILLED_BLAME,
	RUNQ_FILLED_SOME, /* enum runq_some */
	RUNQ_FILLED_GATE, /* enum runq_gate */
	RUNQ_FILLED_LEARN, /* RUNQ_LEARN, or a mask with fewer bits if few waits are sampled */
	CORE_FILLED_END,
};

/* Selects the waits that are counted. */
enum runq_some {
	RUNQ_SOME_ALL,
	RUNQ_SOME_FILTER, /* some groups are excluded (RUNQ_PLACE_UNWANTED) */
	RUNQ_SOME_SAMPLE,
};

/*
 * Variants of the program runq_some. The OLD variants are for kernels that lack the struct fields
 * that quick_runnable() reads.
 */
enum runq_gate {
	RUNQ_GATE_SAMPLE,
	RUNQ_GATE_FILTER,
	RUNQ_GATE_SAMPLE_OLD,
	RUNQ_GATE_FILTER_OLD,
	RUNQ_GATE_LOAD, /* added to a variant's number if the program also counts for load */
};

#define CORE_NR_FILLED (CORE_FILLED_END - CORE_FILLED_FIRST)

#endif
