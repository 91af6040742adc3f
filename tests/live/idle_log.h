/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When a core went idle or woke, by a program of the test's own: the kernel's events, none of our code. */
#ifndef SUBTICK_TESTS_LIVE_IDLE_LOG_H
#define SUBTICK_TESTS_LIVE_IDLE_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define IDLE_LOG_NR    (1u << 16)
#define IDLE_LOG_READS 9

struct idle_log {
	int prog, link, count_map, stamp_map;
	volatile uint64_t *count;
	volatile uint64_t *stamps; /* of entry n: stamps[n % IDLE_LOG_NR] */
};

enum idle_log_event {
	IDLE_LOG_ENTRY,
	IDLE_LOG_EXIT,
	IDLE_LOG_TIMER_IRQ, /* x86: the local timer's interrupt */
};

/*
 * Open it after the programs whose figures are judged: events call their listeners in the order
 * of their coming, and this one's cost must lie behind the stamp of theirs.
 */
int idle_log_open(struct idle_log *log, int cpu, struct err *err);
/*
 * Same log for another event than cpu_idle. The last of @reads readings of the clock, up to
 * IDLE_LOG_READS, is the stamp. -ENOENT if the kernel does not have the event.
 */
int idle_log_open_at(struct idle_log *log, int cpu, enum idle_log_event event, unsigned int reads,
		     struct err *err);
/* A program on the same event that does nothing: a descriptor to close, or -errno. */
int idle_log_empty(enum idle_log_event event);
/* How many entries there were so far. */
uint64_t idle_log_count(const struct idle_log *log);
/* CLOCK_MONOTONIC of entry @nr. The log keeps the last IDLE_LOG_NR entries. */
uint64_t idle_log_stamp(const struct idle_log *log, uint64_t nr);
void idle_log_close(struct idle_log *log);

#endif
