/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions for live tests: run windows of `subtick runq`, and read numbers from the report of a
 * window.
 */
#ifndef SUBTICK_TESTS_LIVE_RUNQ_WINDOW_H
#define SUBTICK_TESTS_LIVE_RUNQ_WINDOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "measure/runq/runq.h"
#include "report/report.h"

/*
 * Opens runq. Skips the test program if the machine lacks a requirement. Fails the test program if
 * opening runq fails although the machine meets the requirements.
 */
struct meter *window_open(const struct runq_opts *opts);
void window_begin(struct meter *meter);
/* Sleeps for @ms milliseconds, and handles events of @meter during the sleep. */
void window_wait(struct meter *meter, unsigned int ms);
/* Sleeps like window_wait(), then ends the window. The caller frees the report. */
struct report *window_end(struct meter *meter, unsigned int ms);

/* Returns figure @key of the group whose first column is @who, or NAN. */
double window_group(const struct report *report, const char *who, const char *key);
double window_quality(const struct report *report, const char *key);

/*
 * Forks a child that enters a cgroup and is pinned to a CPU. The child is killed when the test
 * exits.
 */
pid_t load_fork(const char *cgroup, int cpu);
/* Starts a child that keeps its CPU busy. */
pid_t load_burner(const char *cgroup, int cpu);
void load_kill(pid_t pid);
/* schedstat of a thread: run time, run delay, number of dispatches. */
struct load_stat {
	double ran_ns, waited_ns, count;
};
struct load_stat load_schedstat(pid_t pid);
/*
 * Returns the sum of schedstat over all threads of init. Some kernels run no BPF program on a core
 * while that core runs a thread of init (PID 1). subtick then misses interrupts, and the wait of
 * the task that runs after init.
 */
struct load_stat load_init_schedstat(void);
/* True if init has run since schedstat was read into @before. */
bool load_init_ran(const struct load_stat *before);
#define LOAD_INIT_RAN "init had a core, and there are kernels that run no BPF program meanwhile"

/*
 * schedstat of a task, read just before and just after the start (before, begun) and the end
 * (ending, after) of a window. The true values lie between (ending - begun) and (after - before).
 */
struct load_schedstats {
	struct load_stat before, begun, ending, after;
};

/* Lower and upper bound of the task's schedstat in the window. */
struct load_stat load_least(const struct load_schedstats *stats);
struct load_stat load_most(const struct load_schedstats *stats);

#endif
