/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzz target for kernel command lines: a value is a part of the line, and dash and underscore in
 * names are equal.
 */
#include "fuzz.h"

#include "host/kernel.h"

static void fuzz_cmdline(const char *text, size_t len)
{
	char *line = strndup(text, len), *value = malloc(len + 1), *other = malloc(len + 1);
	bool found;

	FUZZ_CHECK(line && value && other);
	value[0] = other[0] = '\0';
	found = cmdline_get(line, "nohz_full", value, len + 1);
	FUZZ_CHECK(cmdline_get(line, "nohz-full", other, len + 1) == found);
	FUZZ_CHECK(!strcmp(value, other));
	FUZZ_CHECK(cmdline_get(line, "nohz_full", NULL, 0) == found);
	FUZZ_CHECK(strstr(line, value));
	if (!found)
		FUZZ_CHECK(!value[0]);
	free(line);
	free(value);
	free(other);
}

FUZZ_BYTES(fuzz_cmdline)
