/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares each point (measured wake-up) of `subtick wake` with perf's timestamps of the same
 * events.
 */
#ifndef SUBTICK_TESTS_TRUTH_WAKE_POINTS_H
#define SUBTICK_TESTS_TRUTH_WAKE_POINTS_H

#include <jansson.h>

/*
 * Returns the events of this machine that wake_points_judge() needs: idle loop, interrupts, timers,
 * sent IPIs.
 */
const char *const *wake_points_events(void);

/* Runs `subtick wake --source @source` on @cpu with @points points and checks each point. */
void wake_points_judge(const char *source, int cpu, int points);

#endif
