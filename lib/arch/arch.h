/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What differs between CPU architectures: the cycle clock and the event that matches it. */
#ifndef SUBTICK_ARCH_H
#define SUBTICK_ARCH_H

#include <stdbool.h>
#include <stdint.h>

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

/* Whether the architecture has a cycle clock that user space can read. */
bool arch_has_cycles(void);
/* The cycle clock; 0 if there is none. */
uint64_t arch_cycles(void);
/* Whether it is known to have a constant rate in all power states, as loads by cycles need. */
bool arch_cycles_constant(void);
/* Its frequency if the hardware reports it; 0 if it has to be measured. */
uint64_t arch_cycles_hz(void);
/* Whether every IPI is told by the tracepoint ipi_raise, which names it. */
bool arch_has_ipi_raise(void);
/* The idle instruction of a core without a cpuidle driver: "HLT", "WFI" or "halt". */
const char *arch_idle_name(void);

#endif
