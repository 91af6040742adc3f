/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counters of a CPU or of a task through perf_event_open(2). */
#ifndef SUBTICK_SYS_PERF_H
#define SUBTICK_SYS_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cpuset.h"
#include "base/err.h"

#define PERF_MAX_PMUS 8

/* A resolved event: which PMU, which code. */
struct perf_event {
	char name[32];
	uint32_t type;
	/* On a machine with different kinds of cores each kind has its own PMU. */
	uint32_t more_types[PERF_MAX_PMUS - 1];
	unsigned int nr_more;
	uint64_t config;
	bool constant; /* runs at the cycle clock's rate and stops in idle */
};

struct perf_count {
	uint64_t value;
	uint64_t enabled_ns;
	uint64_t running_ns;
};

/*
 * @name: NULL for the architecture's own unhalted event, "cycles", "ref-cycles", or a raw code
 * such as "r11". Only the architecture's own event and "ref-cycles" count as constant.
 */
int perf_event_find(const char *root, const char *name, struct perf_event *ret_event,
		    struct err *err);

/*
 * The types of all PMUs whose name begins with @prefix and that advertise @event, up to
 * PERF_MAX_PMUS; returns how many.
 */
unsigned int perf_pmu_types(const char *root, const char *prefix, const char *event,
			    uint32_t ret_types[PERF_MAX_PMUS]);

/*
 * Counts all contexts on @cpu. Pinned: it runs all the time, or reads as -EBUSY because no counter
 * is free. Not pinned: it may take turns with other events.
 */
int perf_open_cpu(const struct perf_event *event, unsigned int cpu, bool pinned);
/* 0, or -errno; a pinned event without a counter reads as -EBUSY. */
int perf_read(int fd, struct perf_count *ret_count);

/* Sets @err for a -errno of perf_open_cpu(), with the fix. */
int perf_fail(struct err *err, int code, const struct perf_event *event, unsigned int cpu);

/*
 * The names of the hardware event sources, sorted, as "a b c". Returns how many, or -errno;
 * -ENOENT if the kernel has no perf events.
 */
int pmu_list(const char *root, char *buf, size_t size);

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
