/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A list of waits, each known between two stamps, and a group's figures against it. */
#ifndef SUBTICK_TESTS_TRUTH_WAITS_H
#define SUBTICK_TESTS_TRUTH_WAITS_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* By stamps of the tasks themselves the wait was no shorter than low_ns, no longer than high_ns. */
struct wait_known {
	uint64_t low_ns, high_ns;
};

uint64_t waits_low(const struct wait_known *waits, size_t nr);
uint64_t waits_high(const struct wait_known *waits, size_t nr);
/* The most that one of them is uncertain by. */
uint64_t waits_slack(const struct wait_known *waits, size_t nr);

/*
 * The histogram's buckets as docs/methods/runq.md has them: 32 equal ones per power of two. Worked
 * out here again, so that a mistake there is not made here as well.
 */
uint64_t waits_bucket(uint64_t ns, uint64_t *ret_width);

/* Count, sum, average and maximum of a group of a report. */
void waits_judge(const char *name, json_t *group, const struct wait_known *waits, size_t nr);
/* Each of its `le`: the count lies between those that surely are below and those that may be. */
void waits_judge_le(const char *name, json_t *group, const struct wait_known *waits, size_t nr);
/* A percentile, by the formula of the docs from the list: the same to the ns. */
void waits_judge_percentile(const char *name, json_t *group, const char *key, double percent,
			    const struct wait_known *waits, size_t nr);

#endif
