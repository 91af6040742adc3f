/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interrupts and softirqs of one core, with the timestamps of ftrace. */
#ifndef SUBTICK_TESTS_TRUTH_FTRACE_H
#define SUBTICK_TESTS_TRUTH_FTRACE_H

#include <stdint.h>

#define FTRACE_NR_VECS 10

/*
 * Time of one core in each context between two timestamps. Hardirqs inside a softirq are
 * subtracted.
 */
struct ftrace_times {
	uint64_t hardirq_ns;
	uint64_t softirq_on_idle_ns;
	uint64_t softirq_on_task_ns;
	uint64_t vec_ns[FTRACE_NR_VECS];
	uint64_t vec_count[FTRACE_NR_VECS];
	/*
	 * Softirq delay from the first raise to the entry, for entries between the two timestamps.
	 */
	uint64_t delay_ns[FTRACE_NR_VECS], delay_max_ns[FTRACE_NR_VECS];
	uint64_t delay_count[FTRACE_NR_VECS];
};

/* One event in an ftrace recording. */
struct ftrace_event {
	uint64_t at_ns;
	unsigned int cpu;
	int pid; /* pid of the current task */
	char name[48];
	const char *fields; /* valid until the next event */
};

/*
 * Traces the NULL-terminated event groups ("irq") or events ("sched/sched_switch") @names on the
 * CPUs of @mask, in a trace instance with CLOCK_MONOTONIC. Fails the program on an error.
 */
void ftrace_begin(unsigned int mask, const char *const *events);
/* Ends tracing, removes the instance and calls the function for each event in order of time. */
void ftrace_end(void (*each)(const struct ftrace_event *event, void *arg), void *arg);

/* Starts tracing interrupts and softirqs of @cpu. */
void ftrace_start(int cpu);
/* Ends tracing, removes the instance and sums the time between the two timestamps. */
void ftrace_stop(uint64_t from_ns, uint64_t to_ns, struct ftrace_times *ret_times);

#endif
