/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cycle clock of each architecture, and the perf event that counts at its rate. */
#ifndef SUBTICK_ARCH_H
#define SUBTICK_ARCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * ARCH_HAS_CYCLES: user space can read a cycle clock. ARCH_HAS_IPI_RAISE: the tracepoint ipi_raise
 * reports every IPI. ARCH_IDLE_NAME: idle instruction of a core without a cpuidle driver.
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

/* A perf counter that runs at the cycle clock's rate and stops while the core is halted. */
struct arch_event {
	const char *name;
	const char *pmu; /* name or prefix of PMU directories in /sys/bus/event_source/devices */
	const char *pmu_event; /* name of the event's file in the events directory of the PMU */
	bool generic;	       /* true for a PERF_TYPE_HARDWARE event, which needs no PMU name */
	uint64_t config;
};

/* Counters of unhalted cycles, in order of preference. The last element has no name. */
extern const struct arch_event arch_unhalted_events[];

/* Reads the cycle clock; returns 0 on architectures without a cycle clock. */
uint64_t arch_cycles(void);
/* True if the cycle clock has a constant rate in all power states. */
bool arch_cycles_constant(void);
/* Cycle clock frequency that the hardware reports, or 0 if it must be measured. */
uint64_t arch_cycles_hz(void);

#endif
