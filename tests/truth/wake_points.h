/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares each point (measured wake-up) of `subtick wake` with perf's timestamps of the same
 * events.
 */
#ifndef SUBTICK_TESTS_TRUTH_WAKE_POINTS_H
#define SUBTICK_TESTS_TRUTH_WAKE_POINTS_H

/* Runs `subtick wake --source @source` on @cpu with @points points and checks each point. */
void wake_points_judge(const char *source, int cpu, int points);

#endif
