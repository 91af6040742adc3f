/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads run time, wait time and CPU of every task from /proc/PID/schedstat and /proc/PID/stat. */
#ifndef SUBTICK_TESTS_LIVE_WITNESS_TASKS_H
#define SUBTICK_TESTS_LIVE_WITNESS_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct witness_task {
	int pid, tid, parent;
	int cpu;     /* CPU on which the task last ran */
	bool kernel; /* true for a kernel thread */
	bool own;    /* true for the test itself and its descendants */
	uint64_t run_ns, wait_ns;
	uint64_t moves; /* number of migrations to another core */
};

/* All tasks, sorted by PID and TID, as /proc lists them. */
struct witness_tasks {
	struct witness_task *tasks;
	size_t nr;
};

/* Reads all tasks. Returns false on kernels without CONFIG_SCHED_INFO. */
bool witness_tasks_read(struct witness_tasks *ret_tasks);
void witness_tasks_free(struct witness_tasks *tasks);

/* Activity of tasks between two snapshots; times are in ns. */
struct witness_work {
	uint64_t others_ns;  /* run time of other programs on the core */
	uint64_t threads_ns; /* run time of kernel threads on the core */
	uint64_t own_ns;     /* run time of the test's tasks on the core */
	/* run delay of the test's tasks on other cores, or of the test's main process */
	uint64_t waited_ns;
	unsigned int born; /* number of tasks that only the second snapshot contains */
	/* number of other programs' tasks on the core that only the first snapshot contains */
	unsigned int died;
};

/*
 * Computes the activity of tasks between two snapshots on core @cpu, or on all cores if @cpu is -1.
 * All run time of a task counts for @cpu if the task was on @cpu in either snapshot. All run time
 * of a migrated task of another program counts for @cpu. @ret_work may therefore overestimate a
 * disturbance, but never underestimates a disturbance.
 */
void witness_tasks_between(const struct witness_tasks *first, const struct witness_tasks *last,
			   int cpu, struct witness_work *ret_work);

#endif
