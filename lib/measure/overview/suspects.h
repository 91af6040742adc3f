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
#define SUSPECTS_MAX  160
#define SUSPECT_PATH  512
#define SUSPECT_NAME  64

/* A task, or all tasks of one name and cgroup that exited before the end of the window. */
struct suspect {
	uint32_t pid;		   /* 0: tasks that exited */
	uint32_t tgid;
	char name[SUSPECT_NAME];   /* comm; of a kernel worker with its work queue */
	char cgroup[SUSPECT_PATH]; /* in the hierarchy that controls the CPU; "" if unknown */
	uint64_t cgroup_id;	   /* the same cgroup; 0: unknown */
	char cpuset[SUSPECT_PATH]; /* cgroup in the hierarchy of controller cpuset; "" if unknown */
	bool kthread;
	int policy, priority, nice; /* of sched_getattr(2) */
	uint64_t ns;		    /* CPU time in the window */
	uint64_t sleeps;	    /* how often it left a CPU because it blocked or exited */
	uint64_t count;		    /* tasks */
	uint32_t parent;	    /* tgid; 0: unknown; UINT32_MAX: tasks of several parents */
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

/*
 * Fills @ret_suspects from the tasks of a load window. @v1: cgroup paths of the v1 controllers.
 * @root as in host/file.h. 0 or -ENOMEM.
 */
int suspects_read(const char *root, const struct load_task *tasks, size_t nr, bool v1,
		  struct suspects *ret_suspects);

/* Path in /proc/PID/cgroup of the hierarchy with @controller, or with NULL of v2; "" if none. */
void suspect_cgroup(const char *text, const char *controller, char ret_path[SUSPECT_PATH]);

#endif
