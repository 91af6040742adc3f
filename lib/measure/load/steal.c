/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the stolen time of each CPU between two samples. */
#include "measure/load/steal.h"

#include <unistd.h>

#include "base/clock.h"

void steal_open(struct steal *steal, struct blocks *memory, unsigned int nr_cpus)
{
	*steal = (struct steal){.nr_cpus = nr_cpus,
				.tick_ns = NSEC_PER_SEC / sysconf(_SC_CLK_TCK),
				.cpus = blocks_calloc(memory, nr_cpus, sizeof(*steal->cpus)),
				.last = blocks_calloc(memory, nr_cpus, sizeof(*steal->last)),
				.ns = blocks_calloc(memory, nr_cpus, sizeof(*steal->ns))};
	procstat_open(&steal->stat, NULL, NULL);
}

void steal_close(struct steal *steal)
{
	sys_text_close(&steal->stat);
}

void steal_sample(struct steal *steal, const struct procstat_cpu *read)
{
	if (!steal->nr_cpus)
		return;
	if (!read && !procstat_read(&steal->stat, steal->cpus, steal->nr_cpus))
		read = steal->cpus;
	steal->known = false;
	for (unsigned int cpu = 0; cpu < steal->nr_cpus; cpu++) {
		uint64_t was = steal->last[cpu], ticks = UINT64_MAX;

		if (read && read[cpu].nr_cols)
			ticks = read[cpu].ticks[PROCSTAT_STEAL];
		steal->ns[cpu] = ticks > was && ticks != UINT64_MAX ? (ticks - was) * steal->tick_ns : 0;
		steal->known |= ticks && ticks != UINT64_MAX;
		steal->last[cpu] = ticks;
	}
}
