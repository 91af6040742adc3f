/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Time that the hypervisor took from each CPU between two samples. It has no edge to trace: the
 * kernel's own column in /proc/stat is the only source.
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
	bool open; /* false: there is no /proc/stat, and nothing is known of steal */
};

/* 0 or -ENOMEM. A zeroed struct can be sampled, asked and closed: it knows nothing. */
int steal_open(struct steal *steal, unsigned int nr_cpus);
void steal_close(struct steal *steal);

/* @read: /proc/stat as another source has just read it, or NULL. */
void steal_sample(struct steal *steal, const struct procstat_cpu *read);

/*
 * A kernel that does not account stolen time always shows 0, so steal counts as known only once the
 * column of some CPU has moved.
 */
bool steal_known(const struct steal *steal);
/* Stolen time between the last two samples. */
uint64_t steal_ns(const struct steal *steal, unsigned int cpu);

#endif
