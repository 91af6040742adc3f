/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pinned tasks of a test in virtual time: each on its core, in its cgroup, with its priority. */
#ifndef SUBTICK_TESTS_TRUTH_PINNED_H
#define SUBTICK_TESTS_TRUTH_PINNED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PINNED_ORDINARY 0    /* SCHED_OTHER */
#define PINNED_BATCH	(-1) /* SCHED_BATCH: a wake-up preempts no task */

struct pinned_task {
	const char *cgroup; /* from cgroups_make(), or NULL for the cgroup of the test */
	int cpu;
	int priority; /* of SCHED_FIFO, or one of the above */
	void (*run)(void *shared);
};

/* Memory that the test and its tasks share; zeroed. */
void *pinned_share(size_t size);
/* The task is in its place when this returns. Once run() returns it sleeps until the test ends. */
pid_t pinned_start(const struct pinned_task *task, void *shared);
void pinned_stop(pid_t pid);

/* Sleeps until *word is at least @value. */
void pinned_wait(uint32_t *word, uint32_t value);
/* Adds 1 and wakes who waits. */
void pinned_wake(uint32_t *word);

/* schedstat of a thread: ns run, ns waited, dispatches. */
struct pinned_schedstat {
	uint64_t ran_ns, waited_ns, dispatches;
};

/* Fails the program if they cannot be read. */
struct pinned_schedstat pinned_schedstat(pid_t pid);

#endif
