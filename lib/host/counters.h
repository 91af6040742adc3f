/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A hardware event on every CPU, opened once per process and shared by all meters: some PMUs have a
 * single counter for an event (ref-cycles on Intel).
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
	/* changes when the counter is reopened; only counts of one generation may be subtracted */
	uint32_t generation;
	/* true if the event always counts; false if its count must be scaled */
	bool pinned;
};

/*
 * Opens the event on each CPU of @online, or shares the event if it is already open. Fails if no
 * CPU can be measured. All functions of this file are thread-safe.
 */
int counters_open(const struct perf_event *event, unsigned int nr_cpus, const struct cpuset *online,
		  struct counters **ret_counters, struct err *err);
/* Closes the event on all CPUs unless another meter uses the event. @counters may be NULL. */
void counters_close(struct counters *counters);

/*
 * Reads the counter of @cpu, which sends an IPI to this CPU. If reading fails, reopens the counter,
 * because another program may have held the hardware counter and released it.
 */
int counters_read(struct counters *counters, unsigned int cpu, struct counter *ret_counter);

/* Reopens the counter of @cpu after CPU hotplug, unless it was reopened since @generation. */
int counters_renew(struct counters *counters, unsigned int cpu, uint32_t generation);

/*
 * Descriptor of the counter of @cpu, valid until the generation changes, or -1. Sets all members of
 * *@ret_counter except the count. Sends no IPI.
 */
int counters_fd(struct counters *counters, unsigned int cpu, struct counter *ret_counter);

#endif
