/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzz target for kernel configurations: for any buffer size, a value fits the buffer or is
 * refused.
 */
#include "fuzz.h"

#include "host/kernel.h"

static void fuzz_kconfig(const char *text, size_t len)
{
	char large[4096], *exact;
	enum kconfig_state state = kconfig_parse(text, len, "HZ", large, sizeof(large));

	if (state == KCONFIG_UNKNOWN)
		return;
	FUZZ_CHECK(kconfig_parse(text, len, "HZ", NULL, 0) == state);
	if (state != KCONFIG_VALUE)
		return;
	exact = malloc(strlen(large) + 1);
	FUZZ_CHECK(exact);
	/*
	 * If the value contains a NUL byte, strlen(large) stops at the NUL byte, and the buffer
	 * @exact is too small for the value. A file with NUL bytes is not a kernel configuration.
	 */
	if (kconfig_parse(text, len, "HZ", exact, strlen(large) + 1) == KCONFIG_VALUE)
		FUZZ_CHECK(!strcmp(large, exact));
	free(exact);
}

FUZZ_BYTES(fuzz_kconfig)
