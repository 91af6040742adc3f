/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Architectures without a known cycle counter: counter sources are refused. */
#include "host/arch.h"

#if !defined(__x86_64__) && !defined(__i386__) && !defined(__aarch64__)

#include <stddef.h>

const struct arch_event *arch_unhalted_events(void)
{
	static const struct arch_event none = {.name = NULL};

	return &none;
}

uint64_t arch_cycles(void)
{
	return 0;
}

bool arch_cycles_constant(void)
{
	return false;
}

uint64_t arch_cycles_hz(void)
{
	return 0;
}

#endif
