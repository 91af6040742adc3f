/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzz target for /proc/stat: the size of the array does not change the result. */
#include "fuzz.h"

#include "host/procstat.h"

#define MANY 64
#define FEW  3

static void fuzz_procstat(const char *text, size_t len)
{
	static struct procstat_cpu many[MANY], few[FEW];
	int rc = procstat_parse(text, len, many, MANY);
	int rc_few = procstat_parse(text, len, few, FEW);

	/*
	 * A text that is valid for the large array is valid for the small array, because duplicate
	 * lines are found only for CPUs in the array.
	 */
	FUZZ_CHECK(rc || !rc_few);
	if (rc)
		return;
	FUZZ_CHECK(!memcmp(many, few, sizeof(few)));
	for (size_t i = 0; i < MANY; i++)
		FUZZ_CHECK(!many[i].nr_cols ||
			   (many[i].nr_cols >= 4 && many[i].nr_cols <= PROCSTAT_NR_COLS));
}

FUZZ_BYTES(fuzz_procstat)
