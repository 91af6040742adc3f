/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks that used CPU time in a window, with the settings that determine when they run. */
#ifndef SUBTICK_MEASURE_OVERVIEW_SUSPECTS_H
#define SUBTICK_MEASURE_OVERVIEW_SUSPECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/cpuset.h"
#include "stats/load.h"

#define SUSPECTS_LIVE 128 /* maximum number of tasks whose settings are read */
#define SUSPECTS_MAX  384
#define SUSPECT_PATH  512
#define SUSPECT_NAME  64
#define RUNNABLE_MAX  256 /* maximum number of runnable tasks that are stored */
/*
 * A starved task ran for less than this share of the window, and for less than a quarter of its
 * fair share.
 */
#define STARVED 0.05

/* A task, or all tasks of one name and cgroup that exited before the end of the window. */
struct suspect {
	uint32_t pid; /* thread id of the task, or 0 for a row of tasks that exited */
	uint32_t tgid;
	/* name of the task (comm); for a kernel worker including the name of its workqueue */
	char name[SUSPECT_NAME];
	/* cgroup in the hierarchy of controller cpu; "" if unknown */
	char cgroup[SUSPECT_PATH];
	uint64_t cgroup_id;	   /* id of `cgroup`, or 0 if unknown */
	char cpuset[SUSPECT_PATH]; /* cgroup in the hierarchy of controller cpuset; "" if unknown */
	bool kthread;
	/* runnable during the whole window, but ran for less than the share STARVED of it */
	bool starved;
	int policy, priority, nice; /* values from sched_getattr(2) */
	/*
	 * Number of the task's autogroup, the group as which the kernel schedules the tasks of a
	 * session; 0 without an autogroup or outside the root cgroup.
	 */
	uint32_t autogroup;
	uint64_t ns; /* CPU time in the window */
	/* number of times that the task left a CPU because it blocked or exited */
	uint64_t sleeps;
	uint64_t count; /* number of tasks in this row */
	/*
	 * Process id of the nearest ancestor that neither exited in the window nor has a sibling of
	 * the same name that exited. 0 if unknown; UINT32_MAX if the tasks of the row have
	 * different ancestors.
	 */
	uint32_t started_by;
	uint32_t cpu;	       /* CPU on which the task had the most CPU time */
	struct cpuset allowed; /* affinity of the task; empty if unknown */
};

struct suspects {
	/*
	 * up to SUSPECTS_MAX tasks, most CPU time first; NULL if CPU time of tasks is not measured
	 */
	struct suspect *list;
	size_t nr;
	uint64_t own_ns; /* CPU time of subtick, which is not a task in `list` */
	uint64_t own_cgroup_id;
};

#define for_each_suspect(s, suspects) array_for_each(s, (suspects)->list, (suspects)->nr)

/* Tasks that run or wait for a CPU at the time of a snapshot. */
struct runnable {
	uint32_t pids[RUNNABLE_MAX];
	/* run_delay of the kernel: total time of the waits that have ended */
	uint64_t waited_ns[RUNNABLE_MAX];
	size_t nr;
};

/*
 * Lists runnable tasks except kernel threads. @ret_list is empty if fewer than two tasks besides
 * the caller are runnable.
 */
void runnable_read(const char *root, struct runnable *ret_list);

/*
 * Marks starved tasks in the list, and adds starved tasks that the list lacks. A starved task was
 * runnable at the beginning and at the end of the window. The task never ran in the window, or its
 * waits that ended in the window add up to at least half of the window. @tasks contains the CPU
 * times of the window. @cpus is the number of CPUs.
 */
void suspects_add_starved(const char *root, const struct runnable *before,
			  const struct runnable *after, const struct load_task *tasks, size_t nr,
			  uint64_t window_ns, unsigned int cpus, bool v1,
			  struct suspects *suspects);

/*
 * Fills @ret_suspects from the tasks of a load window. If @v1 is true, uses the cgroup paths of the
 * v1 controllers. @root is the directory that contains /proc and /sys, or NULL for / (host/file.h).
 * Returns 0 or -ENOMEM.
 */
int suspects_read(const char *root, const struct load_task *tasks, size_t nr, bool v1,
		  struct suspects *ret_suspects);

/* Returns the task with the most CPU time among the live tasks that ran mostly on @cpu, or NULL. */
const struct suspect *suspects_busiest(const struct suspects *suspects, uint32_t cpu);

/*
 * Extracts a path from @text, the content of /proc/PID/cgroup. @controller selects the hierarchy;
 * NULL selects cgroup v2. @ret_path is "" if @text has no line of the hierarchy.
 */
void suspect_cgroup(const char *text, const char *controller, char ret_path[SUSPECT_PATH]);

#endif
