/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* User and system time of a process as /proc/PID/stat gives them. */
#ifndef SUBTICK_SYS_PIDSTAT_H
#define SUBTICK_SYS_PIDSTAT_H

#include <stdint.h>
#include <sys/types.h>

/* In units of 1/USER_HZ s. */
struct pidstat {
	uint64_t user_ticks;
	uint64_t system_ticks;
};

/* -EINVAL for text that is not such a line; the name in it may hold anything. */
int pidstat_parse(const char *text, struct pidstat *ret_stat);
int pidstat_read(const char *root, pid_t pid, struct pidstat *ret_stat);

#endif
