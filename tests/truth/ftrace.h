/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times of the interrupts and softirqs of one core, as recorded by ftrace. */
#ifndef SUBTICK_TESTS_TRUTH_FTRACE_H
#define SUBTICK_TESTS_TRUTH_FTRACE_H

#include <stdint.h>

#define FTRACE_NR_VECS 10

/*
 * Time that a core spent in each context during the recording. The time of hardirqs inside a
 * softirq is not part of the softirq's time.
 */
struct ftrace_times {
	uint64_t hardirq_ns;
	uint64_t softirq_on_idle_ns;
	uint64_t softirq_on_task_ns;
	uint64_t vec_ns[FTRACE_NR_VECS];
	uint64_t vec_count[FTRACE_NR_VECS];
	/*
	 * Delay of softirqs from the first raise to the entry, for softirqs that begin during the
	 * recording.
	 */
	uint64_t delay_ns[FTRACE_NR_VECS], delay_max_ns[FTRACE_NR_VECS];
	uint64_t delay_count[FTRACE_NR_VECS];
};

/* One event of an ftrace recording. */
struct ftrace_event {
	uint64_t at_ns;
	unsigned int cpu;
	int pid; /* PID of the current task */
	char name[48];
	const char *fields; /* event fields as text, valid until the next event */
};

/*
 * Starts tracing of event groups ("irq") or events ("sched/sched_switch") on the CPUs of @mask, in
 * a trace instance that uses CLOCK_MONOTONIC. @events is NULL-terminated. Fails the test program on
 * an error.
 */
void ftrace_begin(unsigned int mask, const char *const *events);
/* Ends tracing, removes the trace instance and calls @each for each event in order of time. */
void ftrace_end(void (*each)(const struct ftrace_event *event, void *arg), void *arg);

/* Starts tracing interrupts and softirqs of @cpu. */
void ftrace_start(int cpu);
/* Ends tracing, removes the trace instance and sums the times between @from_ns and @to_ns. */
void ftrace_stop(uint64_t from_ns, uint64_t to_ns, struct ftrace_times *ret_times);

#endif
