/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the CPU time of an exporter without scrapes. bench-cost reads the CPU-time clock of the
 * exporter's process before and after some windows.
 */
#include "cost.h"

#include <errno.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/*
 * Windows of the exporter last 1 s. The measurement skips the windows of the first WARM_UP_MS,
 * because the exporter still allocates memory.
 */
#define WARM_UP_MS 10000
#define WINDOWS	   32
#define POLL_MS	   20
#define QUIET	   5

/* Sleeps until the process uses no CPU time, which is the case between two windows. */
static int find_pause(clockid_t clock)
{
	int quiet = 0;

	for (int i = 0; i < 1000 && quiet < QUIET; i++) {
		uint64_t before = clock_ns(clock);

		cost_sleep_ms(POLL_MS);
		quiet = clock_ns(clock) == before ? quiet + 1 : 0;
	}
	return quiet < QUIET ? -EBUSY : 0;
}

int cost_rest(pid_t pid, double *ret_mean)
{
	uint64_t before;
	clockid_t clock;
	int rc = clock_getcpuclockid(pid, &clock);

	if (rc)
		return -rc;
	cost_sleep_ms(WARM_UP_MS);
	rc = find_pause(clock);
	if (rc)
		return rc;
	before = clock_ns(clock);
	cost_sleep_ms(WINDOWS * 1000);
	*ret_mean = (double)(clock_ns(clock) - before) / WINDOWS /
		    (double)sysconf(_SC_NPROCESSORS_ONLN);
	return 0;
}
