/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task that sleeps until given times and records how late it gets the core. */
#ifndef SUBTICK_TESTS_LIVE_CANARY_H
#define SUBTICK_TESTS_LIVE_CANARY_H

#include <stdint.h>

#include "gen/loads.h"

struct canary {
	struct gen_child child;
};

/*
 * Real-time where that is allowed, so that only interrupts, other real-time tasks and whoever runs
 * below the kernel can keep it waiting. Some 40 wake-ups a second, at irregular times: in step with
 * the tick they would be charged whole ticks.
 */
int canary_start(struct canary *canary, int cpu, struct err *err);
/* Returns the number of wake-ups so far, as the start of an interval. */
uint64_t canary_mark(const struct canary *canary);
/* Returns the longest delay since @mark in ns, including a wake-up that is still pending. */
uint64_t canary_late_ns(const struct canary *canary, uint64_t mark);
void canary_stop(struct canary *canary);

#endif
