/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Offset between two clocks, and the rate correction of the system clock. */
#include "base/clock.h"

#include <sys/timex.h>
#include <unistd.h>

#define READINGS 8

int64_t clock_offset_ns(clockid_t id, int64_t *ret_width)
{
	int64_t best = INT64_MAX, offset = 0;

	/* Whoever loses the core between two readings has a wide one. */
	for (int i = 0; i < READINGS; i++) {
		int64_t before = clock_mono_ns(), other = clock_ns(id), after = clock_mono_ns();

		if (after - before >= best)
			continue;
		best = after - before;
		offset = other - (before + best / 2);
	}
	*ret_width = best;
	return offset;
}

uint64_t clock_at_ns(clockid_t id, uint64_t mono_ns)
{
	int64_t width;

	return mono_ns + clock_offset_ns(id, &width);
}

double ntp_rate(void)
{
	struct timex timex = {.modes = 0};
	long tick_us = 1000000 / sysconf(_SC_CLK_TCK);

	if (adjtimex(&timex) < 0 || !timex.tick)
		return 0.0;
	/* freq is in ppm with 16 bits after the point, tick in microseconds of a nominal tick_us. */
	return (double)timex.freq / 65536.0 / 1e6 +
	       (double)(timex.tick - tick_us) / (double)tick_us;
}
