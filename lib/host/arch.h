/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What differs between CPU architectures: the cycle clock and the event that matches it. */
#ifndef SUBTICK_ARCH_H
#define SUBTICK_ARCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * ARCH_HAS_CYCLES: user space can read a cycle clock. ARCH_HAS_IPI_RAISE: the tracepoint ipi_raise
 * fires for every IPI and names it. ARCH_IDLE_NAME: idle instruction of a core without a cpuidle
 * driver.
 */
#if defined(__x86_64__) || defined(__i386__)
#define ARCH_HAS_CYCLES	   true
#define ARCH_HAS_IPI_RAISE false
#define ARCH_IDLE_NAME	   "HLT"
#elif defined(__aarch64__)
#define ARCH_HAS_CYCLES	   true
#define ARCH_HAS_IPI_RAISE true
#define ARCH_IDLE_NAME	   "WFI"
#else
#define ARCH_HAS_CYCLES	   false
#define ARCH_HAS_IPI_RAISE false
#define ARCH_IDLE_NAME	   "halt"
#endif

/* A counter that runs at the cycle clock's rate and stops while the core is halted. */
struct arch_event {
	const char *name;
	const char *pmu; /* name, or prefix of the names, under /sys/bus/event_source/devices */
	const char *pmu_event; /* must be listed in the PMU's events/; NULL: not required */
	bool generic;	       /* PERF_TYPE_HARDWARE; pmu is not used */
	uint64_t config;
};

/* In order of preference, ended by a NULL name. */
const struct arch_event *arch_unhalted_events(void);

/* The cycle clock; 0 if there is none. */
uint64_t arch_cycles(void);
/* Whether it is known to have a constant rate in all power states, as loads by cycles need. */
bool arch_cycles_constant(void);
/* Its frequency if the hardware reports it; 0 if it has to be measured. */
uint64_t arch_cycles_hz(void);

#endif
