/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /proc/PID/stat of a process, /proc/PID/task/TID/stat of a thread. */
#ifndef SUBTICK_SYS_PIDSTAT_H
#define SUBTICK_SYS_PIDSTAT_H

#include <stdint.h>
#include <sys/types.h>

struct pidstat {
	uint64_t user_ticks; /* in units of 1/USER_HZ s */
	uint64_t system_ticks;
	pid_t parent;
	pid_t group;
	uint32_t flags; /* PF_ of the kernel's sched.h */
	int cpu;	/* the last one it ran on; -1 if the line lacks it */
};

/* -EINVAL for text that is not such a line; the name in it may contain any character. */
int pidstat_parse(const char *text, struct pidstat *ret_stat);
/* @pid is a number of our own PID namespace, whichever /proc shows. */
int pidstat_read(const char *root, pid_t pid, struct pidstat *ret_stat);

#endif
