/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interrupts and softirqs of one core as the kernel's own tracer stamped them. */
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
	/* From the first raise to the entry, of the entries between the stamps. */
	uint64_t delay_ns[FTRACE_NR_VECS], delay_max_ns[FTRACE_NR_VECS];
	uint64_t delay_count[FTRACE_NR_VECS];
};

/* One event of a trace. */
struct ftrace_event {
	uint64_t at_ns;
	unsigned int cpu;
	int pid; /* of the current task */
	char name[48];
	const char *fields; /* valid until the next event */
};

/*
 * Traces groups of events ("irq"), which end with NULL, or single ones ("sched/sched_switch"), on the CPUs of
 * @mask, with CLOCK_MONOTONIC in an instance of its own; fails the program.
 */
void ftrace_begin(unsigned int mask, const char *const *events);
/* Ends it, removes the instance and passes on all events in order. */
void ftrace_end(void (*each)(const struct ftrace_event *event, void *arg), void *arg);

/* Starts tracing interrupts and softirqs of @cpu. */
void ftrace_start(int cpu);
/* Ends it, removes the instance and adds up what lies between the two stamps. */
void ftrace_stop(uint64_t from_ns, uint64_t to_ns, struct ftrace_times *ret_times);

#endif
