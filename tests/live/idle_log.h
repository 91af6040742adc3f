/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When a core entered idle, by a program of the test's own: the kernel's event, none of our code. */
#ifndef SUBTICK_TESTS_LIVE_IDLE_LOG_H
#define SUBTICK_TESTS_LIVE_IDLE_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define IDLE_LOG_NR (1u << 16)

struct idle_log {
	int prog, link, count_map, stamp_map;
	volatile uint64_t *count;
	volatile uint64_t *stamps; /* of entry n: stamps[n % IDLE_LOG_NR] */
};

/*
 * Open it after the programs whose figures are judged: events call their listeners in the order
 * of their coming, and this one's cost must lie behind the stamp of theirs.
 */
int idle_log_open(struct idle_log *log, int cpu, struct err *err);
/* How many entries there were so far. */
uint64_t idle_log_count(const struct idle_log *log);
/* CLOCK_MONOTONIC of entry @nr, of which the last IDLE_LOG_NR are kept. */
uint64_t idle_log_stamp(const struct idle_log *log, uint64_t nr);
void idle_log_close(struct idle_log *log);

#endif
