/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks of a test in virtual time, each with a fixed core, a cgroup and a priority. */
#ifndef SUBTICK_TESTS_TRUTH_PINNED_H
#define SUBTICK_TESTS_TRUTH_PINNED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/live/live.h"

#define PINNED_ORDINARY 0    /* SCHED_OTHER */
/* SCHED_BATCH: a task that wakes up does not preempt the running task */
#define PINNED_BATCH (-1)

struct pinned_task {
	const char *cgroup; /* path from cgroups_make(), or NULL for the cgroup of the test */
	int cpu;
	int priority; /* SCHED_FIFO priority, or one of the constants PINNED_* */
	void (*run)(void *shared);
};

/* Allocates zeroed memory that the test and its tasks share. */
void *pinned_share(size_t size);
/*
 * Starts a task and returns when the task is on its core. After run() returns, the task sleeps
 * until the test ends.
 */
pid_t pinned_start(const struct pinned_task *task, void *shared);
void pinned_stop(pid_t pid);

/* Sleeps until *word is at least @value. */
void pinned_wait(uint32_t *word, uint32_t value);
/* Adds 1 to *word and wakes the tasks that wait for *word. */
void pinned_wake(uint32_t *word);

/* Reads schedstat of a thread. Fails the test program if schedstat cannot be read. */
struct live_schedstat pinned_schedstat(pid_t pid);

#endif
