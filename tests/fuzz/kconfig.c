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
	 * If the value contains a NUL byte, @exact is too small, and kconfig_value() refuses the
	 * value. Kernel configurations contain no NUL bytes.
	 */
	if (kconfig_value(&config, "HZ", exact, strlen(large) + 1) == KCONFIG_VALUE)
		FUZZ_CHECK(!strcmp(large, exact));
	free(exact);
}

FUZZ_BYTES(fuzz_kconfig)
