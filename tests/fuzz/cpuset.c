/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzz target for CPU lists: formatting a parsed set and parsing the result gives the same set. */
#include "fuzz.h"

#include <errno.h>

#include "base/cpuset.h"

static void fuzz_cpuset(const char *text)
{
	static char buf[CPUSET_MAX * 5];
	struct cpuset set, again;
	int rc = cpuset_parse(text, &set);

	FUZZ_CHECK(rc == 0 || rc == -EINVAL || rc == -ERANGE);
	if (rc)
		return;
	FUZZ_CHECK(cpuset_format(&set, buf, sizeof(buf)) == strlen(buf));
	FUZZ_CHECK(cpuset_parse(buf, &again) == 0);
	FUZZ_CHECK(!memcmp(&set, &again, sizeof(set)));
}

FUZZ_STRING(fuzz_cpuset)
