/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* x86: the TSC, and reference cycles, which count at its rate while the core is not halted. */
#include "arch/arch.h"

#if defined(__x86_64__) || defined(__i386__)

#include <linux/perf_event.h>
#include <stddef.h>
#include <x86intrin.h>

const struct arch_event *arch_unhalted_events(void)
{
	static const struct arch_event events[] = {
		/* Intel's fixed counter 2; AMD since Zen 4. */
		{.name = "ref-cycles", .generic = true, .config = PERF_COUNT_HW_REF_CPU_CYCLES},
		/* Zen 1 to 3: MPERF counts at the TSC's rate in C0. */
		{.name = "mperf", .pmu = "msr", .pmu_event = "mperf", .config = 0x02},
		{.name = NULL},
	};

	return events;
}

bool arch_has_cycles(void)
{
	return true;
}

uint64_t arch_cycles(void)
{
	unsigned int aux;

	/* rdtscp waits for earlier loads, so the stamp is not taken before the read it belongs to. */
	return __rdtscp(&aux);
}

uint64_t arch_cycles_hz(void)
{
	/* CPUID leaf 0x15 has nominal values, and only on some CPUs: measure instead. */
	return 0;
}

const char *arch_idle_name(void)
{
	return "HLT";
}

#endif
