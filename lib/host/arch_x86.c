/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* x86: the TSC, and reference cycles, which count at its rate while the core is not halted. */
#include "host/arch.h"

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>
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

#define EXT_FEATURES 0x80000001
#define EXT_POWER    0x80000007
#define HAS_RDTSCP   (1u << 27)
#define HAS_INVARIANT_TSC (1u << 8)

static bool cpu_has(unsigned int leaf, unsigned int edx_bit)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid(leaf, &eax, &ebx, &ecx, &edx) && edx & edx_bit;
}

/* Asked once, when the program starts: CPUID traps to the hypervisor in a guest. */
static bool has_rdtscp, has_invariant_tsc;

static void __attribute__((constructor)) ask_cpu(void)
{
	has_rdtscp = cpu_has(EXT_FEATURES, HAS_RDTSCP);
	has_invariant_tsc = cpu_has(EXT_POWER, HAS_INVARIANT_TSC);
}

/* Waits for earlier loads, so that the stamp is not taken before the read it belongs to. */
uint64_t arch_cycles(void)
{
	unsigned int aux;

	if (has_rdtscp)
		return __rdtscp(&aux);
	_mm_lfence();
	return __rdtsc();
}

bool arch_cycles_constant(void)
{
	return has_invariant_tsc;
}

uint64_t arch_cycles_hz(void)
{
	/* CPUID leaf 0x15 has nominal values, and only on some CPUs: measure instead. */
	return 0;
}

#endif
