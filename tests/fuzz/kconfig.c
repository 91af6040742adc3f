/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzz target for kernel configurations: a value fits the buffer or is refused. */
#include "fuzz.h"

#include "host/kernel.h"

static void fuzz_kconfig(const char *text, size_t len)
{
	const struct kconfig config = {.text = (char *)text, .len = len};
	char large[4096], *exact;
	enum kconfig_state state = kconfig_value(&config, "HZ", large, sizeof(large));

	if (state == KCONFIG_UNKNOWN)
		return;
	FUZZ_CHECK(kconfig_value(&config, "HZ", NULL, 0) == state);
	if (state != KCONFIG_VALUE)
		return;
	exact = malloc(strlen(large) + 1);
	FUZZ_CHECK(exact);
	/*
	 * strlen(large) is shorter than a value that contains a NUL byte. The buffer @exact is then
	 * too small for the value, and kconfig_value() refuses the value. A file with NUL bytes is
	 * not a kernel configuration.
	 */
	if (kconfig_value(&config, "HZ", exact, strlen(large) + 1) == KCONFIG_VALUE)
		FUZZ_CHECK(!strcmp(large, exact));
	free(exact);
}

FUZZ_BYTES(fuzz_kconfig)
