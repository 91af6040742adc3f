/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Intel's residency counters of core and package C-states: the states entered, not those requested. */
#ifndef SUBTICK_MEASURE_WAKE_CSTATE_H
#define SUBTICK_MEASURE_WAKE_CSTATE_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/perf.h"

#define CSTATE_MAX	8 /* of the core, and of the package */
#define CSTATE_COUNTERS (2 * CSTATE_MAX)

/*
 * The counters of the cstate_core PMU, named "C1", "C6", …, or of cstate_pkg: "PC2", "PC6", ….
 * Returns how many; 0 without that PMU.
 */
int cstate_list(const char *root, bool package, struct perf_event events[CSTATE_MAX]);

/*
 * The number in the hardware's name of an idle state of cpuidle: 6 for intel_idle's "C6S" and for
 * acpi_idle's "C2_ACPI", whose description has the MWAIT hint 0x20. -1 if it cannot be told.
 */
int cstate_number(const char *driver, const char *name, const char *desc);

/* Open counters of one CPU. They count cycles of the cycle clock while in their state. */
struct cstate_set {
	int nr;
	char name[CSTATE_COUNTERS][8];
	int number[CSTATE_COUNTERS];
	bool package[CSTATE_COUNTERS];
	int fd[CSTATE_COUNTERS];
};

/*
 * All on the CPU itself, so that reading sends no IPI: the kernel reads a package's counter on any
 * CPU of that package. Unavailable counters are left out.
 */
void cstate_open(struct cstate_set *set, const char *root, unsigned int cpu);
int cstate_read(const struct cstate_set *set, uint64_t ret_cycles[CSTATE_COUNTERS]);
void cstate_close(struct cstate_set *set);

/* The core's counter that runs while the core is in state @number; -1 without one. */
int cstate_counter(const struct cstate_set *set, int number);

#endif
