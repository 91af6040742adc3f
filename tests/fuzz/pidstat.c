/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzz target for /proc/PID/stat: a task name does not move the fields after the name. */
#include "fuzz.h"

#include "host/procstat.h"

static void fuzz_pidstat(const char *text)
{
	struct pidstat stat = {.user_ticks = 1, .system_ticks = 2}, other = {.user_ticks = 3};
	const char *end = strrchr(text, ')');
	int rc = pidstat_parse(text, &stat);
	char *plain = NULL;

	FUZZ_CHECK(!rc || (stat.user_ticks == 1 && stat.system_ticks == 2));
	FUZZ_CHECK(end || rc);
	if (!end || asprintf(&plain, "1 (a) b) (c%s", end) < 0)
		return;
	FUZZ_CHECK(pidstat_parse(plain, &other) == rc);
	if (!rc)
		FUZZ_CHECK(stat.user_ticks == other.user_ticks &&
			   stat.system_ticks == other.system_ticks && stat.flags == other.flags &&
			   stat.cpu == other.cpu);
	free(plain);
}

FUZZ_STRING(fuzz_pidstat)
