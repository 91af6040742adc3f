/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks of a test in virtual time: each in its cgroup, on its core, with its priority. */
#ifndef SUBTICK_TESTS_TRUTH_CREW_H
#define SUBTICK_TESTS_TRUTH_CREW_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CREW_ORDINARY 0	   /* SCHED_OTHER */
#define CREW_BATCH    (-1) /* SCHED_BATCH: preempts nobody by waking up */

struct crew_task {
	const char *cgroup; /* of cgroups_make(); NULL: where the test is */
	int cpu;
	int priority; /* of SCHED_FIFO, or one of the above */
	void (*run)(void *shared);
};

/* Memory that the test and its tasks share; zeroed. */
void *crew_share(size_t size);
/* The task is in its place when this returns. Once run() returns it sleeps until the test ends. */
pid_t crew_start(const struct crew_task *task, void *shared);
void crew_stop(pid_t pid);

/* Sleeps until *word is at least @value. */
void crew_wait(uint32_t *word, uint32_t value);
/* Adds 1 and wakes who waits. */
void crew_wake(uint32_t *word);

/* What the kernel has accounted for a thread, by /proc: ns run, ns waited, dispatches. */
struct crew_books {
	uint64_t ran_ns, waited_ns, dispatches;
};

/* Fails the program if they cannot be read. */
struct crew_books crew_books(pid_t pid);

#endif
