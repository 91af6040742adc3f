/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interrupts and softirqs of one core as the kernel's own tracer stamped them. */
#ifndef SUBTICK_TESTS_TRUTH_FTRACE_H
#define SUBTICK_TESTS_TRUTH_FTRACE_H

#include <stdint.h>

#define FTRACE_NR_VECS 10

/* What one core did between two stamps; hardirqs on top of a softirq are not in it. */
struct ftrace_times {
	uint64_t hardirq_ns;
	uint64_t softirq_on_idle_ns;
	uint64_t softirq_on_task_ns;
	uint64_t vec_ns[FTRACE_NR_VECS];
	uint64_t vec_count[FTRACE_NR_VECS];
};

/* Starts tracing @cpu with CLOCK_MONOTONIC in an instance of its own; fails the program. */
void ftrace_start(int cpu);
/* Ends it, removes the instance and adds up what lies between the two stamps. */
void ftrace_stop(uint64_t from_ns, uint64_t to_ns, struct ftrace_times *ret_times);

#endif
