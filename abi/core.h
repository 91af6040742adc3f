/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The memory of one core, which the programs of load, wake and runq share, and their operands. */
#ifndef SUBTICK_ABI_CORE_H
#define SUBTICK_ABI_CORE_H

#include "abi/load.h"
#include "abi/runq.h"

#define CORE_BLOCK_SIZE 4096
#define CORE_MAX_CPUS	8192

/* One address per event serves all of them. */
struct core_block {
	struct load_slot load;
	struct runq_cpu runq;
	struct wake_counts wake;
	struct load_line_key line; /* the open handler, with --irq and noise; without the CPU */
	__u64 pad[110];
	struct load_smt smt; /* with LOAD_FILLED_CORES; the sibling reads this cache line */
};

_Static_assert(sizeof(struct core_block) == CORE_BLOCK_SIZE, "a shift yields the address of a block");

/* Operands that user space fills into the programs: see sys_bpf_open_filled(). Flags are 0 or 1. */
enum core_filled {
	CORE_FILLED_FIRST = 0x5ab71d00,
	CORE_FILLED_CPU_MASK = CORE_FILLED_FIRST, /* blocks - 1; the number of blocks is a power of two */
	CORE_FILLED_LOAD, /* the switch program of runq also counts for load */
	LOAD_FILLED_WAKE,  /* count passive wake-ups */
	LOAD_FILLED_STATES, /* rows of wake-ups per CPU */
	LOAD_FILLED_ONE_STATE, /* no cpuidle driver: one row */
	LOAD_FILLED_TASKS, /* task time by task */
	LOAD_FILLED_NOISE, /* what takes time from tasks */
	LOAD_FILLED_BURSTS,
	LOAD_FILLED_PMU, /* source bpf-pmu */
	LOAD_FILLED_CORES, /* time in which both siblings of a core are busy */
	LOAD_FILLED_NOTES, /* any of the last three */
	RUNQ_FILLED_V2,	      /* unified hierarchy of cgroups */
	RUNQ_FILLED_RQ_CLOCK, /* se.exec_start differs from the run queue's clock */
	RUNQ_FILLED_SHARED,   /* several cores share a histogram */
	RUNQ_FILLED_STEPS,    /* slots have struct runq_steps */
	RUNQ_FILLED_BLAME,
	RUNQ_FILLED_SOME, /* enum runq_some */
	RUNQ_FILLED_GATE, /* enum runq_gate */
	RUNQ_FILLED_LEARN, /* RUNQ_LEARN, fewer bits in a sample */
	CORE_FILLED_END,
};

/* Set of counted waits. */
enum runq_some {
	RUNQ_SOME_ALL,
	RUNQ_SOME_FILTER, /* groups may be RUNQ_PLACE_UNWANTED */
	RUNQ_SOME_SAMPLE,
};

/* Variants without causes for a sample or filter. OLD: kernels that lack fields, see quick_runnable(). */
enum runq_gate {
	RUNQ_GATE_SAMPLE,
	RUNQ_GATE_FILTER,
	RUNQ_GATE_SAMPLE_OLD,
	RUNQ_GATE_FILTER_OLD,
	RUNQ_GATE_LOAD, /* flag added to the variants: the program also counts for load */
};

#define CORE_NR_FILLED (CORE_FILLED_END - CORE_FILLED_FIRST)

#endif
