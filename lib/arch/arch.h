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
	const char *pmu_event; /* must be advertised under the PMU's events/; NULL: no such test */
	bool generic;	 /* PERF_TYPE_HARDWARE; pmu is not looked at */
	uint64_t config;
};

/* In order of preference, ended by a NULL name. */
const struct arch_event *arch_unhalted_events(void);

/* Whether the architecture has a cycle clock that user space can read. */
bool arch_has_cycles(void);
/* The cycle clock; 0 where there is none. Constant rate, the same on all cores. */
uint64_t arch_cycles(void);
/* Its frequency where the hardware tells it, 0 where it has to be measured. */
uint64_t arch_cycles_hz(void);
/* What a core without a cpuidle driver does when it is idle: "HLT", "WFI" or "halt". */
const char *arch_idle_name(void);

#endif
