/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Intel's residency counters of core C-states: the states entered, not those requested. */
#ifndef SUBTICK_SYS_CSTATE_H
#define SUBTICK_SYS_CSTATE_H

#include <stdint.h>

#include "sys/perf.h"

#define CSTATE_MAX 8

/* The counters of the cstate_core PMU, named "C1", "C6", …. Returns how many; 0 without that PMU. */
int cstate_list(const char *root, struct perf_event events[CSTATE_MAX]);

/* Open counters of one CPU. They count cycles of the cycle clock while the core is in their state. */
struct cstate_set {
	int nr;
	char name[CSTATE_MAX][8];
	int fd[CSTATE_MAX];
	uint64_t begin[CSTATE_MAX];
	uint64_t cycles[CSTATE_MAX]; /* since begin */
};

/* Call both on the CPU itself, so that reading sends no IPI. Unavailable counters are left out. */
void cstate_begin(struct cstate_set *set, const char *root, unsigned int cpu);
void cstate_end(struct cstate_set *set);

#endif
