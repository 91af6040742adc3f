/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One hardware event on every CPU, opened once per process and shared by all who count it. A PMU may
 * have a single counter for the event (Intel: ref-cycles), so a second one could not be scheduled.
 */
#ifndef SUBTICK_SYS_COUNTERS_H
#define SUBTICK_SYS_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "base/err.h"
#include "host/perf.h"

struct counters;

struct counter {
	struct perf_count count;
	/* Changes when the counter was opened again: values before and after do not belong together. */
	uint32_t generation;
	bool pinned; /* it counts all the time; else it takes turns with others: scale it */
};

/*
 * Opens the event on each CPU of @online, or shares what is open. Fails if no CPU can be measured.
 * Safe to call from several threads, as are all functions here.
 */
int counters_open(const struct perf_event *event, unsigned int nr_cpus, const struct cpuset *online,
		  struct counters **ret_counters, struct err *err);
/* NULL is allowed. */
void counters_close(struct counters *counters);

/*
 * Reads the counter of @cpu; opens it again first if it has an error, so that a counter that another
 * program held comes back. 0 or -errno. Interrupts @cpu.
 */
int counters_read(struct counters *counters, unsigned int cpu, struct counter *ret_counter);

/*
 * Hotplug detaches the events of a CPU for good: opens a new one, unless that was done since
 * @generation was current.
 */
int counters_renew(struct counters *counters, unsigned int cpu, uint32_t generation);

/* Sends no interrupt. The descriptor stays valid until the generation changes; -1 if not open. */
int counters_fd(struct counters *counters, unsigned int cpu, struct counter *ret_counter);

#endif
