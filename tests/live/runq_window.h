/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A window of runq inside a live test, and looking figures up in its report. */
#ifndef SUBTICK_TESTS_LIVE_RUNQ_WINDOW_H
#define SUBTICK_TESTS_LIVE_RUNQ_WINDOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "measure/runq/runq.h"
#include "report/report.h"

/* Skips the whole program where the machine cannot do it; fails it where runq cannot. */
struct meter *window_open(const struct runq_opts *opts);
void window_begin(struct meter *meter);
/* Waits, letting the meter do its chores. */
void window_wait(struct meter *meter, unsigned int ms);
/* Waits, then ends the window. Free the report. */
struct report *window_end(struct meter *meter, unsigned int ms);

/* A figure of the group whose first column is @who; NAN without such a row or figure. */
double window_group(const struct report *report, const char *who, const char *key);
double window_quality(const struct report *report, const char *key);
/* Sums of blame: of all culprits if @culprit is NULL. */
double window_blame(const struct report *report, const char *victim, const char *culprit);

/* fork() whose child is in the cgroup and on the CPU; killed at exit. */
pid_t load_fork(const char *cgroup, int cpu);
/* Such a child that burns CPU. */
pid_t load_burner(const char *cgroup, int cpu);
void load_kill(pid_t pid);
/* schedstat of a thread: ns run, ns waited, dispatches. */
struct load_stat {
	double ran_ns, waited_ns, count;
};
struct load_stat load_schedstat(pid_t pid);
/*
 * Sum of schedstat over all threads of init. There are kernels that run no BPF program while one of
 * them has the core. subtick then misses interrupts and the switch away from init. The next task
 * has one wait less than the kernel counts.
 */
struct load_stat load_init_schedstat(void);
/* Whether init had a core since that was @before, and what it means for a try. */
bool load_init_ran(const struct load_stat *before);
#define LOAD_INIT_RAN "init had a core, and there are kernels that run no BPF program meanwhile"

/*
 * The kernel's accounting of a task just outside and just inside of both ends of a window. The
 * count of the window lies between the two differences, whatever the reading takes.
 */
struct load_schedstats {
	struct load_stat before, begun, ending, after;
};

/* Lower and upper bound of the kernel's accounting in the window. */
struct load_stat load_least(const struct load_schedstats *stats);
struct load_stat load_most(const struct load_schedstats *stats);

#endif
