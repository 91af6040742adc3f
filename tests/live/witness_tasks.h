/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Run time, wait time and CPU of every task, from /proc/PID/schedstat. */
#ifndef SUBTICK_TESTS_LIVE_WITNESS_TASKS_H
#define SUBTICK_TESTS_LIVE_WITNESS_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct witness_task {
	int pid, tid, parent;
	int cpu;     /* CPU on which the task ran last */
	bool kernel; /* kernel thread */
	bool own;    /* the test itself or a descendant */
	uint64_t run_ns, wait_ns;
	uint64_t moves; /* migrations to another core */
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
	uint64_t others_ns;  /* tasks of other programs on the core */
	uint64_t threads_ns; /* kernel threads on the core */
	uint64_t own_ns;     /* tasks of the test on the core */
	/* run delay of the test's tasks on other cores, or of the test itself */
	uint64_t waited_ns;
	unsigned int born;   /* tasks that only the second reading has */
	/* tasks of other programs on the core that only the first reading has */
	unsigned int died;
};

/*
 * @cpu: the measured core, or -1 for all. A task that was on @cpu at either reading counts as if it
 * ran there all the time. A task of another program that migrated also counts as if it ran on @cpu
 * all the time. The result may be too high.
 */
void witness_tasks_between(const struct witness_tasks *first, const struct witness_tasks *last,
			   int cpu, struct witness_work *ret_work);

#endif
