/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the rate correction with adjtimex(2). */
#include "sys/ntp.h"

#include <sys/timex.h>
#include <unistd.h>

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
