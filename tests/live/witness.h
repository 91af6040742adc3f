/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds out whether a try of a live test was disturbed, without subtick's code. */
#ifndef SUBTICK_TESTS_LIVE_WITNESS_H
#define SUBTICK_TESTS_LIVE_WITNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "witness_tasks.h"

#define WITNESS_ALL_CPUS (-1)

/*
 * Assumed CPU time of an interrupt, of a task that started and exited during the try, and of a task
 * that exited during the try.
 */
#define WITNESS_IRQ_NS	5000
#define WITNESS_GONE_NS 1000000
#define WITNESS_DIED_NS 10000000

/* Limits of a test, derived from its bound: a smaller disturbance cannot exceed the bound. */
struct witness_limits {
	/*
	 * Share of the try in which the core ran tasks of other programs, kernel threads, the
	 * hypervisor (steal), interrupts other than timers, or tasks that started and exited between
	 * the two readings. The time of such short tasks is the busy time that nothing else explains,
	 * and at least their number times WITNESS_GONE_NS.
	 */
	double taken;
	/*
	 * Share of the try in which the test's tasks on other cores waited for a core. A negative
	 * limit means no limit.
	 */
	double waited;
	/*
	 * Number of tasks that the try starts and ends, and number of interrupts other than timers
	 * that the try causes.
	 */
	unsigned int own_forks, own_irqs;
	/*
	 * The try itself causes many interrupts on the core, for example 10,000 timers per second.
	 * In such a try unexplained busy time is no evidence of short tasks. Only unexplained
	 * user-mode time then counts as time of short tasks.
	 */
	bool own_interrupts;
};

/* Shares of the duration of a try. */
struct witness_seen {
	double seconds;
	double others, threads, steal, irqs, gone;
	double taken; /* sum of the shares above, or 1 if the core was offline at either end */
	double waited;
	uint64_t nr_irqs, nr_gone;
	double own;  /* tasks of the test: run time on the core, or before their exit */
	double idle; /* NAN if the kernel does not account it */
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
	uint64_t hop_ns;      /* CPU time that this reading itself used on the core */
	uint64_t forks;
	struct witness_tasks tasks;
};

struct witness {
	int cpu;
	struct witness_limits limits;
	struct witness_reading first;
};

void witness_open(struct witness *witness, int cpu, const struct witness_limits *limits);
/* Called at the start and at the end of one try. */
void witness_begin(struct witness *witness);
void witness_end(struct witness *witness, struct witness_seen *ret_seen);
void witness_close(struct witness *witness);

/* Formats all fields of @seen as one line. */
void witness_format(const struct witness_seen *seen, char *ret_text, size_t size);
/* True if a limit is exceeded. If so, @ret_why has the measured share and the limit. */
bool witness_disturbed(const struct witness_limits *limits, const struct witness_seen *seen,
		       char *ret_why, size_t size);

#endif
