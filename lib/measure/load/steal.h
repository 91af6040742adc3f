/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Time that the hypervisor took from each CPU. Stolen time is read from /proc/stat, because the
 * kernel has no tracepoint for stolen time.
 */
#ifndef SUBTICK_MEASURE_LOAD_STEAL_H
#define SUBTICK_MEASURE_LOAD_STEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "stats/load.h"
#include "host/procstat.h"

struct steal {
	struct sys_text stat;
	struct procstat_cpu *cpus;
	/* column steal by CPU at the last sample; UINT64_MAX for a CPU without a line */
	uint64_t *last;
	uint64_t *ns;	/* stolen time between the last two samples by CPU */
	unsigned int nr_cpus;
	uint64_t tick_ns;
	/* a CPU has had stolen time since boot; false if the kernel does not account this time */
	bool known;
};

/*
 * Opens /proc/stat and allocates the arrays of @steal. If opening fails, the stolen time is
 * unknown, as in a zeroed struct. The caller checks @memory->failed.
 */
void steal_open(struct steal *steal, struct blocks *memory, unsigned int nr_cpus);
void steal_close(struct steal *steal);

/*
 * Reads the column steal of /proc/stat for all CPUs. @read is NULL, or the columns of /proc/stat
 * that another source has just read.
 */
void steal_sample(struct steal *steal, const struct procstat_cpu *read);

#endif
