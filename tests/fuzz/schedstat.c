/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzz target for /proc/schedstat: the size of the array does not change the result. */
#include "fuzz.h"

#include "host/procstat.h"

#define MANY 64
#define FEW  3

static void fuzz_schedstat(const char *text, size_t len)
{
	static struct schedstat_cpu many[MANY], few[FEW];
	int rc = schedstat_parse(text, len, many, MANY);
	int rc_few = schedstat_parse(text, len, few, FEW);

	FUZZ_CHECK(rc || !rc_few);
	for (size_t i = 0; !rc && i < FEW; i++) {
		FUZZ_CHECK(many[i].present == few[i].present);
		FUZZ_CHECK(many[i].run_ns == few[i].run_ns);
	}
}

FUZZ_BYTES(fuzz_schedstat)
