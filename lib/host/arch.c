/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the cycle clock of each architecture and lists the counters that stop in idle. */
#include "host/arch.h"

#include <stddef.h>

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>
#include <linux/perf_event.h>
#include <x86intrin.h>

const struct arch_event arch_unhalted_events[] = {
	/* Intel counts ref-cycles in fixed counter 2. AMD supports ref-cycles since Zen 4. */
	{.name = "ref-cycles", .generic = true, .config = PERF_COUNT_HW_REF_CPU_CYCLES},
	/* AMD Zen 1 to 3: MPERF counts at the rate of the TSC in C0. */
	{.name = "mperf", .pmu = "msr", .pmu_event = "mperf", .config = 0x02},
	{.name = NULL},
};

#define EXT_FEATURES 0x80000001
#define EXT_POWER    0x80000007
#define HAS_RDTSCP   (1u << 27)
#define HAS_INVARIANT_TSC (1u << 8)

static bool cpu_has(unsigned int leaf, unsigned int edx_bit)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid(leaf, &eax, &ebx, &ecx, &edx) && edx & edx_bit;
}

/* CPU features, read once at program start, because CPUID traps to the hypervisor in a guest. */
static bool has_rdtscp, has_invariant_tsc;

static void __attribute__((constructor)) read_cpuid(void)
{
	has_rdtscp = cpu_has(EXT_FEATURES, HAS_RDTSCP);
	has_invariant_tsc = cpu_has(EXT_POWER, HAS_INVARIANT_TSC);
}

/* RDTSCP and LFENCE ensure that the CPU reads the TSC after earlier loads are complete. */
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

/* CPUID leaf 0x15 reports only a nominal TSC rate, and only some CPUs have this leaf. */
uint64_t arch_cycles_hz(void)
{
	return 0;
}

#elif defined(__aarch64__)

const struct arch_event arch_unhalted_events[] = {
	/*
	 * CNT_CYCLES counts at the rate of the virtual counter, except in WFI and WFE. CPU_CYCLES
	 * cannot measure unhalted time, because its rate changes with the core's frequency.
	 */
	{.name = "cnt_cycles", .pmu = "armv8_", .pmu_event = "cnt_cycles", .config = 0x4004},
	{.name = NULL},
};

uint64_t arch_cycles(void)
{
	uint64_t cycles;

	/* The barrier orders the counter read after earlier instructions. */
	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(cycles)::"memory");
	return cycles;
}

/* The Arm architecture requires a constant rate of the generic timer. */
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

#else

const struct arch_event arch_unhalted_events[] = {{.name = NULL}};

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
