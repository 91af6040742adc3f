/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens and reads perf_event_open(2) counters of a CPU or of a task. */
#ifndef SUBTICK_SYS_PERF_H
#define SUBTICK_SYS_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cpuset.h"
#include "base/err.h"

#define PERF_MAX_PMUS 8

struct perf_event {
	char name[32];
	/* Numbers of the PMU types. On hybrid machines each kind of core has its own PMU. */
	uint32_t types[PERF_MAX_PMUS];
	unsigned int nr_types;
	uint64_t config;
	/* the event counts at the cycle clock's rate and stops while the CPU is idle */
	bool constant;
};

struct perf_count {
	uint64_t value;
	uint64_t enabled_ns;
	uint64_t running_ns;
};

/*
 * Finds the event @name: "cycles", "ref-cycles" or a raw code such as "r11". If @name is NULL,
 * finds the architecture's event that counts unhalted cycles at a constant rate. "ref-cycles" has a
 * constant rate; the rate of "cycles" and of raw codes may change.
 */
int perf_event_find(const char *root, const char *name, struct perf_event *ret_event,
		    struct err *err);

/* Finds the PMUs with @event whose name begins with @prefix. Returns the number of PMUs. */
unsigned int perf_pmu_types(const char *root, const char *prefix, const char *event,
			    uint32_t ret_types[PERF_MAX_PMUS]);

/*
 * Opens @event for all tasks on @cpu. A pinned event counts all the time; without a free hardware
 * counter perf_read() returns -EBUSY. An event that is not pinned may be multiplexed.
 */
int perf_open_cpu(const struct perf_event *event, unsigned int cpu, bool pinned);
int perf_read(int fd, struct perf_count *ret_count);

/* Sets @err for error @code of perf_open_cpu(), with the fix. */
int perf_fail(struct err *err, int code, const struct perf_event *event, unsigned int cpu);

/*
 * Writes the sorted names of hardware PMUs as "a b c". Returns the number of PMUs, or -errno:
 * -ENOENT without perf events.
 */
int pmu_list(const char *root, char *buf, size_t size);

struct perf_task {
	int clock_fd;
	/* descriptor of the counter of cycles in user and kernel mode; negative without a PMU */
	int user_fd, kernel_fd;
};

/* Counts of one task, scaled if multiplexed; UINT64_MAX for an unavailable counter. */
struct perf_task_count {
	uint64_t clock_ns;
	uint64_t user_cycles, kernel_cycles;
};

/*
 * Opens counters of @pid that start at its next execve(). Processes of the same user need no
 * privilege if perf_event_paranoid is at most 2 (Debian kernels have 3). Fails only if the task
 * clock cannot be opened.
 */
int perf_task_open(struct perf_task *task, pid_t pid, struct err *err);
void perf_task_read(const struct perf_task *task, struct perf_task_count *ret_count);
void perf_task_close(struct perf_task *task);

#endif
