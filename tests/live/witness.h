/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Detects whether an attempt of a live test was disturbed, without subtick's code. */
#ifndef SUBTICK_TESTS_LIVE_WITNESS_H
#define SUBTICK_TESTS_LIVE_WITNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "witness_tasks.h"

#define WITNESS_ALL_CPUS (-1)

/*
 * Assumed CPU times: WITNESS_IRQ_NS of one interrupt, WITNESS_GONE_NS of a task that started and
 * exited during the attempt, WITNESS_DIED_NS of a task that only exited during the attempt.
 */
#define WITNESS_IRQ_NS	5000
#define WITNESS_GONE_NS 1000000
#define WITNESS_DIED_NS 10000000

/*
 * Limits for disturbances, derived from the bound that the test checks. A disturbance below its
 * limit cannot make a correct figure exceed the bound of the test.
 */
struct witness_limits {
	/*
	 * Share of the attempt that the core spent on other work: tasks of other programs, kernel
	 * threads, steal time, interrupts other than timers, and short tasks. Short tasks are tasks
	 * that started and exited between the two readings of the attempt. The time of short tasks
	 * is the busy time that nothing else explains, and at least the number of short tasks times
	 * WITNESS_GONE_NS.
	 */
	double taken;
	/*
	 * Share of the attempt in which tasks of the test on other cores waited for a core. If
	 * @waited is negative, the waiting time of the test's tasks has no limit.
	 */
	double waited;
	/*
	 * Number of tasks that the test itself starts, and number of non-timer interrupts that the
	 * test itself causes, in one attempt.
	 */
	unsigned int own_forks, own_irqs;
	/*
	 * True if the test itself causes many interrupts on the core, for example 10,000 timers per
	 * second. If interrupts are frequent, unexplained busy time is no evidence of short tasks,
	 * and only unexplained user-mode time counts as time of short tasks.
	 */
	bool own_interrupts;
};

/* Disturbances, as shares of the duration of an attempt. */
struct witness_seen {
	double seconds;
	double others, threads, steal, irqs, gone;
	/*
	 * Sum of @others, @threads, @steal, @irqs and @gone, or at least 1 if the core was offline
	 * at either end of the attempt.
	 */
	double taken;
	double waited;
	uint64_t nr_irqs, nr_gone;
	/*
	 * Run time of the test's tasks on the core, plus CPU time of the test's exited children on
	 * all cores.
	 */
	double own;
	double idle; /* idle share of the core, or NAN if the kernel does not account idle time */
};

struct witness_reading {
	uint64_t at_ns;
	bool online;
	uint64_t steal_ns;
	uint64_t irqs, timers;
	uint64_t idle_ns;
	uint64_t user_ns;	   /* user-mode time of all tasks */
	uint64_t children_ns;	   /* CPU time of exited children of the test */
	uint64_t children_user_ns; /* user-mode part of children_ns */
	uint64_t reading_ns;	   /* CPU time that taking this reading used on the core */
	uint64_t forks;
	struct witness_tasks tasks;
};

struct witness {
	int cpu;
	struct witness_limits limits;
	struct witness_reading first;
};

void witness_open(struct witness *witness, int cpu, const struct witness_limits *limits);
/* Call witness_begin() at the start of an attempt and witness_end() at its end. */
void witness_begin(struct witness *witness);
void witness_end(struct witness *witness, struct witness_seen *ret_seen);
void witness_close(struct witness *witness);

/* Formats all fields of @seen as one line. */
void witness_format(const struct witness_seen *seen, char *ret_text, size_t size);
/*
 * True if a share in @seen exceeds its limit. @ret_why then contains the measured share and the
 * limit.
 */
bool witness_disturbed(const struct witness_limits *limits, const struct witness_seen *seen,
		       char *ret_why, size_t size);

#endif
