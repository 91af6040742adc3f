/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a busy task that reads the clock repeatedly. */
#include "runs.h"

#include <sys/resource.h>

#include "base/clock.h"
#include "truth.h"

#define STEP_NS 1000
#define LATE_NS 2000

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* Reads the clock and the task's switch count without a switch in between. */
static uint64_t look(long *ret_switches)
{
	uint64_t now;

	do {
		*ret_switches = switches();
		now = clock_mono_ns();
	} while (switches() != *ret_switches);
	return now;
}

void runs_burn(struct runs *runs, uint64_t begin_ns, uint64_t end_ns)
{
	long asleep = switches() + 1, were, are;
	uint64_t last, now;

	truth_sleep_until(begin_ns);
	last = look(&were);
	runs->run[0].from_ns = last;
	runs->losses = runs->early = (int)(were - asleep);
	for (; last < end_ns; last = now) {
		truth_burn(STEP_NS);
		now = clock_mono_ns();
		if (now - last <= LATE_NS)
			continue;
		now = look(&are);
		if (are == were || runs->nr == RUNS_MAX - 1)
			continue;
		runs->losses += (int)(are - were);
		were = are;
		runs->run[runs->nr++].to_ns = last;
		runs->run[runs->nr].from_ns = now;
	}
	runs->run[runs->nr++].to_ns = last;
}

uint64_t run_inside(const struct run *run, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t from = run->from_ns < from_ns ? from_ns : run->from_ns;
	uint64_t to = run->to_ns > to_ns ? to_ns : run->to_ns;

	return from < to ? to - from : 0;
}

uint64_t runs_inside(const struct runs *runs, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t sum = 0;

	for (int i = 0; i < runs->nr; i++)
		sum += run_inside(&runs->run[i], from_ns, to_ns);
	return sum;
}
