/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stolen time between two samples. */
#include "measure/load/steal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

int steal_open(struct steal *steal, unsigned int nr_cpus)
{
	*steal = (struct steal){.nr_cpus = nr_cpus,
				.tick_ns = NSEC_PER_SEC / sysconf(_SC_CLK_TCK),
				.prev = calloc(nr_cpus, sizeof(*steal->prev)),
				.cur = calloc(nr_cpus, sizeof(*steal->cur))};
	if (!steal->prev || !steal->cur) {
		steal_close(steal);
		return -ENOMEM;
	}
	steal->open = !procstat_open(&steal->stat, NULL, NULL);
	return 0;
}

void steal_close(struct steal *steal)
{
	if (steal->open)
		procstat_close(&steal->stat);
	free(steal->prev);
	free(steal->cur);
	*steal = (struct steal){0};
}

void steal_sample(struct steal *steal, const struct procstat_cpu *read)
{
	struct procstat_cpu *was = steal->prev;

	if (!steal->open)
		return;
	steal->prev = steal->cur;
	steal->cur = was;
	if (read)
		memcpy(steal->cur, read, steal->nr_cpus * sizeof(*steal->cur));
	else if (procstat_read(&steal->stat, steal->cur, steal->nr_cpus))
		memset(steal->cur, 0, steal->nr_cpus * sizeof(*steal->cur));
}

bool steal_known(const struct steal *steal)
{
	for (unsigned int cpu = 0; steal->open && cpu < steal->nr_cpus; cpu++)
		if (steal->cur[cpu].ticks[PROCSTAT_STEAL])
			return true;
	return false;
}

uint64_t steal_ns(const struct steal *steal, unsigned int cpu)
{
	uint64_t was, is;

	if (!steal->open)
		return 0;
	was = steal->prev[cpu].ticks[PROCSTAT_STEAL];
	is = steal->cur[cpu].ticks[PROCSTAT_STEAL];
	return steal->prev[cpu].nr_cols && is > was ? (is - was) * steal->tick_ns : 0;
}
