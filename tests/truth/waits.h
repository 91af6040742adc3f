/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A list of waits, each with a lower and an upper bound, and checks of the values that subtick
 * reports for these waits.
 */
#ifndef SUBTICK_TESTS_TRUTH_WAITS_H
#define SUBTICK_TESTS_TRUTH_WAITS_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* Bounds for the length of a wait, from the timestamps of the tasks. */
struct wait_known {
	uint64_t low_ns, high_ns;
};

uint64_t waits_low(const struct wait_known *waits, size_t nr);
uint64_t waits_high(const struct wait_known *waits, size_t nr);
/* Returns the largest uncertainty of a wait in the list. */
uint64_t waits_slack(const struct wait_known *waits, size_t nr);

/*
 * Returns the lower bound of the histogram bucket that contains @ns. docs/methods/runq.md defines
 * the buckets: 32 equal buckets per power of two. The test computes the buckets itself,
 * independently of the code under test.
 */
uint64_t waits_bucket(uint64_t ns, uint64_t *ret_width);

/* Checks count, sum, average and maximum of a group against the list of waits. */
void waits_judge(const char *name, json_t *group, const struct wait_known *waits, size_t nr);
/*
 * Checks the number of waits up to each boundary `le`. The reported number of waits must lie
 * between the lowest and the highest number that the bounds of the waits allow.
 */
void waits_judge_le(const char *name, json_t *group, const struct wait_known *waits, size_t nr);
/* Checks a percentile to the nanosecond, with the formula of the documentation. */
void waits_judge_percentile(const char *name, json_t *group, const char *key, double percent,
			    const struct wait_known *waits, size_t nr);

#endif
