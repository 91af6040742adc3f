/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Time that the hypervisor took from each CPU between two samples, from the column steal of
 * /proc/stat. There is no tracepoint for stolen time.
 */
#ifndef SUBTICK_MEASURE_LOAD_STEAL_H
#define SUBTICK_MEASURE_LOAD_STEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/load.h"
#include "host/procstat.h"

struct steal {
	struct procstat stat;
	struct procstat_cpu *prev, *cur;
	unsigned int nr_cpus;
	uint64_t tick_ns;
	bool open; /* /proc/stat is open; if false, steal is unknown */
};

/*
 * Returns 0 or -ENOMEM. The other functions also accept a struct filled with zeros, for which
 * stolen time is unknown.
 */
int steal_open(struct steal *steal, unsigned int nr_cpus);
void steal_close(struct steal *steal);

/*
 * Reads the column steal of /proc/stat for all CPUs. @read is NULL, or the columns of /proc/stat
 * that another source has just read.
 */
void steal_sample(struct steal *steal, const struct procstat_cpu *read);

/* True if some CPU has stolen time. A kernel that does not account stolen time always shows 0. */
bool steal_known(const struct steal *steal);
/* Stolen time between the last two samples. */
uint64_t steal_ns(const struct steal *steal, unsigned int cpu);

#endif
