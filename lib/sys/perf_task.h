/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counters of one process and all its descendants, through perf_event_open(2). */
#ifndef SUBTICK_SYS_PERF_TASK_H
#define SUBTICK_SYS_PERF_TASK_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct perf_task {
	int clock_fd;		/* the task clock */
	int user_fd, kernel_fd; /* cycles in user and in kernel mode; -1: no PMU */
};

struct perf_task_count {
	uint64_t clock_ns;		     /* UINT64_MAX: unknown */
	uint64_t user_cycles, kernel_cycles; /* scaled if the PMU took turns; UINT64_MAX: unknown */
};

/*
 * Counts from the next execve() of @pid on. Needs no privilege for a process of one's own, except
 * where perf_event_paranoid is above 2 (3 on Debian's kernels). What is unavailable stays -1;
 * returns 0 or the -errno of the clock, with the reason in @err.
 */
int perf_task_open(struct perf_task *task, pid_t pid, struct err *err);
void perf_task_read(const struct perf_task *task, struct perf_task_count *ret_count);
void perf_task_close(struct perf_task *task);

#endif
