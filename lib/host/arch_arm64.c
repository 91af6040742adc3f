/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* arm64: the virtual counter, and CNT_CYCLES, which counts at its rate except in WFI and WFE. */
#include "host/arch.h"

#if defined(__aarch64__)

#include <stddef.h>

const struct arch_event *arch_unhalted_events(void)
{
	static const struct arch_event events[] = {
		/*
		 * No generic event of the kernel maps to it. CPU_CYCLES is not usable: its rate
		 * changes with the core's frequency.
		 */
		{.name = "cnt_cycles",
		 .pmu = "armv8_",
		 .pmu_event = "cnt_cycles",
		 .config = 0x4004},
		{.name = NULL},
	};

	return events;
}

uint64_t arch_cycles(void)
{
	uint64_t cycles;

	/* The barrier stops the core from reading the counter early. */
	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(cycles)::"memory");
	return cycles;
}

/* The architecture demands it of the generic timer. */
bool arch_cycles_constant(void)
{
	return true;
}

uint64_t arch_cycles_hz(void)
{
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
}

#endif
