/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Run time, wait time and CPU of every task, from /proc/PID/schedstat. */
#ifndef SUBTICK_TESTS_LIVE_WITNESS_TASKS_H
#define SUBTICK_TESTS_LIVE_WITNESS_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct witness_task {
	int pid, tid, parent;
	int cpu;     /* the last one it ran on */
	bool kernel; /* a thread of the kernel */
	bool own;    /* the test itself or a descendant of it */
	uint64_t run_ns, wait_ns;
	uint64_t moves; /* to another core */
};

/* Sorted by pid and tid, as /proc lists them. */
struct witness_tasks {
	struct witness_task *tasks;
	size_t nr;
};

/* False on kernels without CONFIG_SCHED_INFO. */
bool witness_tasks_read(struct witness_tasks *ret_tasks);
void witness_tasks_free(struct witness_tasks *tasks);

/* Difference between two snapshots, in ns. */
struct witness_work {
	uint64_t others_ns;  /* tasks of other programs ran on the core */
	uint64_t threads_ns; /* threads of the kernel ran on it */
	uint64_t own_ns;     /* tasks of ours ran on it */
	uint64_t waited_ns;  /* tasks of ours had to wait, off the core; or the test itself */
	unsigned int born;   /* tasks that the second reading has and the first has not */
	unsigned int died;   /* of other programs, seen on the core by the first reading only */
};

/*
 * @cpu: the core in question, -1 for all. A task that was on it at either reading is taken to have
 * run on it all the time, and so is one of another program that moved between cores meanwhile: the
 * figure may be too high, hardly too low.
 */
void witness_tasks_between(const struct witness_tasks *first, const struct witness_tasks *last,
			   int cpu, struct witness_work *ret_work);

#endif
