/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks that used CPU time in a window, with the settings that decide when they run. */
#ifndef SUBTICK_MEASURE_OVERVIEW_SUSPECTS_H
#define SUBTICK_MEASURE_OVERVIEW_SUSPECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "stats/load.h"

#define SUSPECTS_LIVE 128 /* tasks whose settings are read */
#define SUSPECTS_MAX  384
#define SUSPECT_PATH  512
#define SUSPECT_NAME  64
#define RUNNABLE_MAX  256  /* runnable tasks that are remembered */
#define STARVED	      0.05 /* share of the window below which a runnable task is starved */

/* A task, or all tasks of one name and cgroup that exited before the end of the window. */
struct suspect {
	uint32_t pid; /* 0: tasks that exited */
	uint32_t tgid;
	char name[SUSPECT_NAME];   /* comm; of a kernel worker with its work queue */
	char cgroup[SUSPECT_PATH]; /* in the hierarchy that controls the CPU; "" if unknown */
	uint64_t cgroup_id;	   /* id of that cgroup, or 0 if unknown */
	char cpuset[SUSPECT_PATH]; /* cgroup in the hierarchy of controller cpuset; "" if unknown */
	bool kthread;
	bool starved; /* runnable in the whole window, and used less than STARVED of it */
	int policy, priority, nice; /* of sched_getattr(2) */
	uint64_t ns;		    /* CPU time in the window */
	uint64_t sleeps;	    /* how often it left a CPU because it blocked or exited */
	uint64_t count;		    /* tasks */
	uint32_t parent;	    /* tgid, 0 if unknown, UINT32_MAX for several parents */
	uint32_t cpu;		    /* CPU on which it used most of its time */
	struct cpuset allowed;	    /* affinity; empty if unknown */
};

struct suspects {
	/* SUSPECTS_MAX places; most CPU time first. NULL: tasks are not measured. */
	struct suspect *list;
	size_t nr;
	uint64_t own_ns; /* CPU time of this process, which is not listed */
	uint64_t own_cgroup_id;
};

/* Tasks that run or wait for a CPU at one moment. */
struct runnable {
	uint32_t pids[RUNNABLE_MAX];
	uint64_t waited_ns[RUNNABLE_MAX]; /* run_delay of the kernel: waits that have ended */
	size_t nr;
};

/* Lists runnable tasks, without kernel threads; none if at most one task beside the caller is. */
void runnable_read(const char *root, struct runnable *ret_list);

/*
 * Marks or adds starved tasks. They are in both lists, from the begin and the end of a window. If no
 * wait of theirs ended in between, they never ran, because a runnable task cannot sleep without
 * running. If waits ended, they take at least half of the window. @tasks has the window's CPU times.
 */
void suspects_add_starved(const char *root, const struct runnable *before,
			  const struct runnable *after, const struct load_task *tasks, size_t nr,
			  uint64_t window_ns, bool v1, struct suspects *suspects);

/*
 * Fills @ret_suspects from the tasks of a load window. @v1: cgroup paths of the v1 controllers.
 * @root as in host/file.h. 0 or -ENOMEM.
 */
int suspects_read(const char *root, const struct load_task *tasks, size_t nr, bool v1,
		  struct suspects *ret_suspects);

/* The live task with most CPU time of those that run mostly on @cpu, or NULL. */
const struct suspect *suspects_busiest(const struct suspects *suspects, uint32_t cpu);

/* Path in /proc/PID/cgroup of the hierarchy with @controller, or with NULL of v2; "" if none. */
void suspect_cgroup(const char *text, const char *controller, char ret_path[SUSPECT_PATH]);

#endif
